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
import { type Node, TurnsView } from "./turnsview.ts"
import { scheme } from "./uri.ts"

// quiet is how long after an event the views are read again: a turn ends with several.
const quiet = 200 // milliseconds

export function activate(context: vscode.ExtensionContext): void {
  const cairn = new Cairn()
  context.subscriptions.push(cairn, ...cairn.views(), ...cairn.commands(), ...cairn.providers(context.extension), ...cairn.listeners())
  cairn.begin()
}

// Cairn holds the parts of the extension together.
class Cairn {
  private readonly output = vscode.window.createOutputChannel("cairn")
  private readonly failed = (err: unknown) => this.output.appendLine((err as Error).message)
  private readonly connection = new Connection(surroundings, program, {
    changed: () => void this.again(),
    event: () => this.soon(),
    log: (text) => this.output.appendLine(text),
  })
  private readonly projects = new Projects(this.connection, program)
  private readonly turns = new TurnsView(this.projects, this.failed)
  private readonly history = new HistoryView(this.projects, this.failed)
  private readonly lenses = new HunkLenses(this.projects, this.failed)
  private readonly timeline = new Timeline(this.projects)
  private readonly status = new StatusBar(this.connection, this.projects)
  private turnsView: vscode.TreeView<Node> | undefined
  private looked = false // the user has asked for something, so that the program may be started
  private timer: NodeJS.Timeout | undefined

  views(): vscode.Disposable[] {
    const turns = vscode.window.createTreeView("cairn.turns", { treeDataProvider: this.turns, showCollapseAll: true })
    const history = vscode.window.createTreeView("cairn.history", { treeDataProvider: this.history })
    this.turnsView = turns
    this.history.view = history
    const seen = [turns, history].map((view) => view.onDidChangeVisibility((e) => void (e.visible && !this.looked && this.look())))
    return [turns, history, ...seen]
  }

  commands(): vscode.Disposable[] {
    const handlers = commandsOf({
      connection: this.connection,
      projects: this.projects,
      turns: this.turns,
      history: this.history,
      goBack: new GoBack(this.output, () => this.soon()),
      look: () => this.look(),
      refresh: async () => {
        await this.look()
        await this.again()
      },
    })
    return Object.entries(handlers).map(([name, handler]) =>
      vscode.commands.registerCommand(name, (...args: unknown[]) => guarded(this.output, () => handler(...(args as never[])))),
    )
  }

  providers(extension: vscode.Extension<unknown>): vscode.Disposable[] {
    const timeline = this.timeline.register(extension)
    return [
      vscode.workspace.registerFileSystemProvider(scheme, new Files(this.projects), { isReadonly: true, isCaseSensitive: true }),
      vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme }], this.lenses),
      ...(timeline ? [timeline] : []),
    ]
  }

  listeners(): vscode.Disposable[] {
    return [
      vscode.window.onDidChangeActiveTextEditor(() => this.follow()),
      vscode.window.tabGroups.onDidChangeTabs(() => {
        this.lenses.refresh()
        this.follow()
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.lenses.refresh()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.again()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.again()),
      vscode.workspace.onDidChangeConfiguration((e) => void (e.affectsConfiguration("cairn") && this.again())),
      vscode.window.onDidChangeWindowState((e) => void (e.focused && this.connection.connect().then(() => this.soon()))),
      // The server tells what it does itself. A command in a terminal may have worked without it.
      vscode.window.onDidEndTerminalShellExecution((e) => void (/\bcairn\b/.test(e.execution.commandLine.value) && this.soon())),
    ]
  }

  // begin looks for a server. Only a view that is open already has the program asked.
  begin(): void {
    this.follow()
    if (this.turnsView?.visible) void this.look()
    else void this.connection.connect().then(() => this.status.update(false))
  }

  private follow(): void {
    const uri = vscode.window.activeTextEditor?.document.uri
    if (vscode.workspace.getConfiguration("cairn").get("followEditor", true)) this.history.follow(uri)
    void vscode.commands.executeCommand("setContext", "cairn.comparing", uri !== undefined && isCompared(uri))
  }

  private async look(): Promise<void> {
    this.looked = true
    await this.connection.connect()
    await this.status.update(true)
  }

  private async refresh(): Promise<void> {
    for (const part of [this.turns, this.history, this.lenses, this.timeline]) part.refresh()
    await this.status.update(this.looked)
  }

  // again refreshes where other backends may answer.
  private again(): Promise<void> {
    this.projects.forget()
    return this.refresh()
  }

  private soon(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => void this.refresh(), quiet)
  }

  dispose(): void {
    clearTimeout(this.timer)
    this.connection.dispose()
    this.status.dispose()
    this.output.dispose()
  }
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
