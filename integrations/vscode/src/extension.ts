// cairn in the editor: turns with their prompts, file history, comparisons, undo and redo. The
// extension asks a server through its private socket; where none runs it asks the program.
import * as vscode from "vscode"
import { commandsOf } from "./commands.ts"
import { isCompared } from "./comparisons.ts"
import { Connection } from "./connection.ts"
import { HistoryView } from "./filehistory.ts"
import { Files } from "./files.ts"
import { GoBack } from "./goback.ts"
import { HunkLenses } from "./hunklenses.ts"
import type { Surroundings } from "./place.ts"
import type { Program } from "./program.ts"
import { Projects } from "./projects.ts"
import { StatusBar } from "./statusbar.ts"
import { Timeline } from "./timeline.ts"
import { TurnsView } from "./turnsview.ts"
import { scheme } from "./uri.ts"

// quiet is how long after an event the views are read again: a turn ends with several.
const quiet = 200 // milliseconds

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("cairn")
  const failed = (err: unknown) => output.appendLine((err as Error).message)
  const connection = new Connection(surroundings, program, {
    changed: () => void all(),
    event: () => soon(),
    log: (text) => output.appendLine(text),
  })
  const projects = new Projects(connection, program)
  const files = new Files(projects)
  const turns = new TurnsView(projects, failed)
  const history = new HistoryView(projects, failed)
  const lenses = new HunkLenses(projects, failed)
  const timeline = new Timeline(projects)
  const status = new StatusBar(connection, projects)
  const goBack = new GoBack(output, () => soon())

  let looked = false // the user has asked for something, so that the program may be started
  let timer: NodeJS.Timeout | undefined
  const refresh = async () => {
    turns.refresh()
    history.refresh()
    lenses.refresh()
    timeline.refresh()
    await status.update(looked)
  }
  const all = () => {
    projects.forget()
    return refresh()
  }
  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(() => void refresh(), quiet)
  }
  const look = async () => {
    looked = true
    await connection.connect()
    await status.update(true)
  }

  const turnsView = vscode.window.createTreeView("cairn.turns", { treeDataProvider: turns, showCollapseAll: true })
  history.view = vscode.window.createTreeView("cairn.history", { treeDataProvider: history })
  for (const view of [turnsView, history.view]) {
    context.subscriptions.push(
      view,
      view.onDidChangeVisibility((e) => void (e.visible && !looked && look())),
    )
  }
  const handlers = commandsOf({
    connection,
    projects,
    turns,
    history,
    goBack,
    look,
    refresh: async () => {
      await look()
      await all()
    },
  })
  for (const [name, handler] of Object.entries(handlers)) {
    context.subscriptions.push(
      vscode.commands.registerCommand(name, (...args: unknown[]) => guarded(output, () => handler(...(args as never[])))),
    )
  }
  const followed = () => {
    const uri = vscode.window.activeTextEditor?.document.uri
    if (vscode.workspace.getConfiguration("cairn").get("followEditor", true)) history.follow(uri)
    void vscode.commands.executeCommand("setContext", "cairn.comparing", uri !== undefined && isCompared(uri))
  }
  const compared = () => {
    lenses.refresh()
    followed()
  }
  context.subscriptions.push(
    output,
    connection,
    status,
    { dispose: () => clearTimeout(timer) },
    vscode.workspace.registerFileSystemProvider(scheme, files, { isReadonly: true, isCaseSensitive: true }),
    vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme }], lenses),
    vscode.window.onDidChangeActiveTextEditor(followed),
    vscode.window.tabGroups.onDidChangeTabs(compared),
    vscode.workspace.onDidSaveTextDocument(() => lenses.refresh()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void all()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void all()),
    vscode.workspace.onDidChangeConfiguration((e) => void (e.affectsConfiguration("cairn") && all())),
    vscode.window.onDidChangeWindowState((e) => void (e.focused && connection.connect().then(soon))),
    // The server tells what it does itself. A command in a terminal may have worked without it.
    vscode.window.onDidEndTerminalShellExecution((e) => void (/\bcairn\b/.test(e.execution.commandLine.value) && soon())),
    ...[timeline.register(context.extension)].filter((d) => d !== undefined),
  )
  followed()
  if (turnsView.visible) void look()
  else void connection.connect().then(() => status.update(false))
}

function setting(name: string): string {
  return vscode.workspace.getConfiguration("cairn").get<string>(name, "")
}

function surroundings(): Surroundings {
  return { env: process.env, platform: process.platform, dataDir: setting("dataDir") }
}

// program returns the program that may be started: none in a workspace that is not trusted.
function program(): Program | undefined {
  return vscode.workspace.isTrusted ? { path: setting("program") || "cairn", dataDir: setting("dataDir") } : undefined
}

// guarded shows what goes wrong in a command.
async function guarded(output: vscode.OutputChannel, handler: () => unknown): Promise<void> {
  try {
    await handler()
  } catch (err) {
    const text = (err as Error).message
    output.appendLine(text)
    void vscode.window.showErrorMessage("cairn: " + text)
  }
}
