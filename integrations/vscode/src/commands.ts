// The commands of the palette, the views and the status bar.
import * as vscode from "vscode"
import type { Checkpoint } from "./api.ts"
import { choicesOf, type Choice, turnChoice } from "./choices.ts"
import { type Comparison, openAll, openComparison } from "./comparisons.ts"
import type { Connection } from "./connection.ts"
import { type Entry, entriesOf, type HistoryView, iconOf, type Subject, subjectOf } from "./filehistory.ts"
import { sideOf } from "./files.ts"
import type { GoBack } from "./goback.ts"
import { hunkAtCursor, wayOf } from "./hunklenses.ts"
import { shown } from "./pathtext.ts"
import type { Project, Projects } from "./projects.ts"
import { changesOf, promptOf, spanOf } from "./turns.ts"
import type { Node, TurnsView } from "./turnsview.ts"
import { ago, authorOf, firstLine, titleOf } from "./words.ts"

export interface Parts {
  connection: Connection
  projects: Projects
  turns: TurnsView
  history: HistoryView
  goBack: GoBack
  refresh(): Promise<void>
  look(): Promise<void> // shows the state, asking the program if need be
}

type Handler = (...args: never[]) => Promise<unknown> | unknown

export function commandsOf(p: Parts): Record<string, Handler> {
  return {
    "cairn.undo": () => undo(p, false),
    "cairn.redo": () => undo(p, true),
    "cairn.undoTurn": (node: Node) => moveSession(p, node, false),
    "cairn.redoTurn": (node: Node) => moveSession(p, node, true),
    "cairn.openTurn": openTurn,
    "cairn.openChange": openChange,
    "cairn.openEntry": (e: Entry) =>
      openComparison(e.project, e.path, { from: e.checkpoint.hash, to: "" }, `${titleOf(e.checkpoint)} ↔ now`),
    "cairn.openEntryChange": openEntryChange,
    "cairn.openEntryFile": (e: Entry) => vscode.commands.executeCommand("vscode.open", sideOf(e.project, e.checkpoint.hash, e.path)),
    "cairn.restoreEntry": (e: Entry) => restoreEntry(p, e),
    "cairn.compare": (uri?: vscode.Uri) => compare(p, uri),
    "cairn.takeBackHunk": (c?: Comparison, id?: string) => takeBackHunk(p, c, id),
    "cairn.track": () => track(p),
    "cairn.startServer": () => startServer(p),
    "cairn.refresh": () => p.refresh(),
    "cairn.menu": () => menu(p),
    "cairn.showAllSessions": (root: string) => p.turns.showAll(root),
    "cairn.moreHistory": (node: { subject: Subject; after: string }) => p.history.more(node),
  }
}

// pickProject asks for the root where the workspace has several.
async function pickProject(p: Parts): Promise<Project | undefined> {
  const projects = await p.projects.all()
  if (projects.length < 2) return projects[0]
  const items = projects.map((project) => ({ label: project.folder.name, description: shown(project.backend.root), project }))
  return (await vscode.window.showQuickPick(items, { placeHolder: "In which root?" }))?.project
}

async function undo(p: Parts, forward: boolean): Promise<void> {
  const project = await pickProject(p)
  if (!project) return
  const choices = await choicesOf(project.backend, forward)
  if (choices.length === 0) return void vscode.window.showInformationMessage(`cairn: there is nothing to ${forward ? "redo" : "undo"}.`)
  const choice =
    choices.length === 1
      ? choices[0]
      : await vscode.window.showQuickPick(choices, {
          placeHolder: forward ? "What comes back? The newest is first." : "What goes? The newest is first.",
          matchOnDetail: true,
        })
  if (choice) await offer(p, project, choice, forward)
}

function offer(p: Parts, project: Project, choice: Choice, forward: boolean): Promise<unknown> {
  return p.goBack.offer({
    project,
    way: choice.way,
    question: forward ? `Bring back “${choice.label}”?` : `Take back “${choice.label}”?`,
    button: forward ? "Bring Back" : "Take Back",
  })
}

async function moveSession(p: Parts, node: Node, forward: boolean): Promise<void> {
  if (node.kind !== "session") return
  const choice = turnChoice(node.session, await node.project.backend.history(node.session.id), forward)
  if (choice) await offer(p, node.project, choice, forward)
  else void vscode.window.showInformationMessage(`cairn: this session has no turn to ${forward ? "bring back" : "take back"}.`)
}

async function openTurn(node: Node): Promise<void> {
  if (node.kind !== "turn") return
  const [span, changes] = [spanOf(node.turn), await changesOf(node.project.backend, node.turn)]
  const title = firstLine(promptOf(node.turn), 40) || `turn ${node.turn.number}`
  const [first] = changes
  if (!span || !first) return void vscode.window.showInformationMessage("cairn: this turn changed no file.")
  if (changes.length === 1) return openComparison(node.project, first.path, span, title)
  await openAll(node.project, changes, span, title)
}

async function openChange(node: Node): Promise<void> {
  if (node.kind === "change") await openComparison(node.project, node.change.path, node.span, node.title)
}

// openEntryChange shows what one checkpoint changed. The first one of a line has no parent: there
// the file as a whole is shown.
async function openEntryChange(e: Entry): Promise<unknown> {
  const { parent, hash } = e.checkpoint
  if (parent === undefined) return vscode.commands.executeCommand("vscode.open", sideOf(e.project, hash, e.path))
  return openComparison(e.project, e.path, { from: parent, to: hash }, titleOf(e.checkpoint))
}

async function restoreEntry(p: Parts, e: Entry): Promise<void> {
  await p.goBack.offer({
    project: e.project,
    way: { action: "restore", hash: e.checkpoint.hash, paths: [e.path] },
    question: `Restore ${shown(e.path)} as of “${titleOf(e.checkpoint)}”?`,
    button: "Restore",
  })
}

async function compare(p: Parts, uri = vscode.window.activeTextEditor?.document.uri): Promise<void> {
  const subject = uri && (await subjectOf(p.projects, uri))
  if (!subject) return void vscode.window.showInformationMessage("cairn: open a file of the workspace first.")
  const item = await vscode.window.showQuickPick(itemsFor(subject), {
    placeHolder: `Compare ${shown(subject.path)} with`,
    matchOnDescription: true,
    matchOnDetail: true,
  })
  if (item) await openComparison(subject.project, subject.path, { from: item.checkpoint.hash, to: "" }, `${titleOf(item.checkpoint)} ↔ now`)
}

// itemsFor lists the checkpoints that changed a file, then the newest others.
async function itemsFor(subject: Subject): Promise<(vscode.QuickPickItem & { checkpoint: Checkpoint })[]> {
  const own = (await entriesOf(subject)).entries.map((e) => e.checkpoint)
  const ids = new Set(own.map((c) => c.id))
  const others = (await subject.project.backend.log(undefined, 100)).checkpoints.filter((c) => !ids.has(c.id))
  return [...own.map((c) => itemOf(c, "changed this file")), ...others.map((c) => itemOf(c, ""))]
}

function itemOf(checkpoint: Checkpoint, detail: string): vscode.QuickPickItem & { checkpoint: Checkpoint } {
  return {
    label: titleOf(checkpoint),
    description: `${authorOf(checkpoint)} · ${ago(checkpoint.time)} · ${checkpoint.id.slice(0, 12)}`,
    detail,
    iconPath: iconOf(checkpoint),
    checkpoint,
  }
}

async function takeBackHunk(p: Parts, comparison?: Comparison, id?: string): Promise<void> {
  const found = comparison?.project && id ? { comparison, id } : await atCursor(p)
  if (!found) return void vscode.window.showInformationMessage("cairn: the cursor is at no hunk of a comparison with a checkpoint.")
  const c = found.comparison
  await p.goBack.offer({
    project: c.project,
    way: wayOf(c, found.id),
    question: `Take back this hunk of ${shown(c.path)}?`,
    button: "Take Back",
  })
}

async function atCursor(p: Parts): Promise<{ comparison: Comparison; id: string } | undefined> {
  const found = await hunkAtCursor(p.projects)
  return found && { comparison: found.comparison, id: found.hunk.id }
}

async function track(p: Parts): Promise<void> {
  const project = await pickProject(p)
  if (!project) return
  const message = await vscode.window.showInputBox({ prompt: "What is the checkpoint for? May be empty." })
  if (message === undefined) return
  const t = await project.backend.track(message)
  void vscode.window.showInformationMessage(`cairn: checkpoint ${t.hash.slice(0, 12)}.`)
  await p.refresh()
}

async function startServer(p: Parts): Promise<void> {
  const [folder] = p.projects.folders()
  if (folder) await p.connection.start(folder.uri.fsPath)
  await p.refresh()
}

async function menu(p: Parts): Promise<void> {
  await p.look()
  const items = [
    { label: "$(discard) Undo…", command: "cairn.undo" },
    { label: "$(redo) Redo…", command: "cairn.redo" },
    { label: "$(save-all) Take a checkpoint", command: "cairn.track" },
    { label: "$(diff) Compare the open file with a checkpoint…", command: "cairn.compare" },
    { label: "$(list-tree) Show turns", command: "cairn.turns.focus" },
    ...(p.connection.server ? [] : [{ label: "$(server-process) Start the server", command: "cairn.startServer" }]),
  ]
  const item = await vscode.window.showQuickPick(items, { placeHolder: "cairn" })
  if (item) await vscode.commands.executeCommand(item.command)
}
