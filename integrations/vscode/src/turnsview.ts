// The tree of sessions, their turns with prompts, and the files of each turn.
import * as vscode from "vscode"
import { type Change, isKind, type Session } from "./api.ts"
import { shown } from "./pathtext.ts"
import type { Project, Projects } from "./projects.ts"
import {
  agentOf,
  beganAt,
  changesOf,
  filesOf,
  isReverted,
  isRunning,
  modelOf,
  promptOf,
  type Span,
  spanOf,
  type Turn,
  turnsOf,
} from "./turns.ts"
import { ago, count, firstLine } from "./words.ts"

export type Node =
  | { kind: "root"; project: Project }
  | { kind: "session"; project: Project; session: Session }
  | { kind: "turn"; project: Project; turn: Turn }
  | { kind: "change"; project: Project; change: Change; span: Span; title: string }
  | { kind: "more"; project: Project }

// pageSize is the number of sessions that a root shows before it is asked for all.
const pageSize = 50

const letters = { added: "A", modified: "M", deleted: "D" }

export class TurnsView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<Node | undefined>()
  readonly onDidChangeTreeData = this.changed.event
  private readonly whole = new Set<string>() // roots that show all sessions

  constructor(
    private readonly projects: Projects,
    private readonly failed: (err: unknown) => void,
  ) {}

  refresh(): void {
    this.changed.fire(undefined)
  }

  showAll(root: string): void {
    this.whole.add(root)
    this.refresh()
  }

  async getChildren(node?: Node): Promise<Node[]> {
    try {
      return await this.childrenOf(node)
    } catch (err) {
      this.failed(err)
      return []
    }
  }

  private async childrenOf(node: Node | undefined): Promise<Node[]> {
    switch (node?.kind) {
      case undefined: {
        const projects = await this.projects.all()
        if (projects.length === 1 && projects[0]) return this.sessionsOf(projects[0])
        return projects.map((project) => ({ kind: "root", project }))
      }
      case "root":
        return this.sessionsOf(node.project)
      case "session":
        return this.turnsOf(node.project, node.session)
      case "turn":
        return changeNodes(node.project, node.turn)
      default:
        return []
    }
  }

  private async sessionsOf(project: Project): Promise<Node[]> {
    const all = await project.backend.sessions()
    const ids = new Set(all.map((s) => s.id))
    const top = all.filter((s) => !s.parentID || !ids.has(s.parentID))
    const list = this.whole.has(project.backend.root) ? top : top.slice(0, pageSize)
    const nodes: Node[] = list.map((session) => ({ kind: "session", project, session }))
    return list.length < top.length ? [...nodes, { kind: "more", project }] : nodes
  }

  // turnsOf returns the turns of a session, the newest first, and the sessions of its sub-agents.
  private async turnsOf(project: Project, session: Session): Promise<Node[]> {
    const [history, all] = await Promise.all([project.backend.history(session.id), project.backend.sessions()])
    const turns = turnsOf(session, history).reverse()
    const children = all.filter((s) => s.parentID === session.id)
    return [
      ...turns.map((turn): Node => ({ kind: "turn", project, turn })),
      ...children.map((s): Node => ({ kind: "session", project, session: s })),
    ]
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "root":
        return rootItem(node.project)
      case "session":
        return sessionItem(node.session)
      case "turn":
        return turnItem(node.turn)
      case "change":
        return changeItem(node)
      case "more": {
        const item = new vscode.TreeItem("Show all sessions")
        item.command = { command: "cairn.showAllSessions", title: "Show all sessions", arguments: [node.project.backend.root] }
        return item
      }
    }
  }
}

async function changeNodes(project: Project, turn: Turn): Promise<Node[]> {
  const span = spanOf(turn)
  if (!span) return []
  const title = firstLine(promptOf(turn), 40) || `turn ${turn.number}`
  try {
    return (await changesOf(project.backend, turn)).map((change) => ({ kind: "change", project, change, span, title }))
  } catch (err) {
    if (isKind(err, "expired", "not-found")) return [] // the checkpoints have been cleaned away
    throw err
  }
}

function rootItem(project: Project): vscode.TreeItem {
  const item = new vscode.TreeItem(project.folder.name, vscode.TreeItemCollapsibleState.Expanded)
  item.iconPath = new vscode.ThemeIcon("root-folder")
  item.description = shown(project.backend.root)
  return item
}

function sessionItem(s: Session): vscode.TreeItem {
  if (s.error) return unreadItem(s)
  const item = new vscode.TreeItem(firstLine(s.title ?? s.latest?.prompt ?? "") || s.id, vscode.TreeItemCollapsibleState.Collapsed)
  item.id = "session " + s.root + " " + s.id
  item.description = [s.agent, ago(s.updated)].filter(Boolean).join(" · ")
  item.iconPath = new vscode.ThemeIcon(s.open ? "sync~spin" : s.parentID ? "type-hierarchy-sub" : "comment-discussion")
  item.contextValue = "cairn.session"
  item.tooltip = [
    s.title,
    `${s.agent ?? "agent not known"}${s.model ? `, ${s.model}` : ""}`,
    count(s.messages, "message"),
    new Date(s.updated).toLocaleString(),
    s.id,
  ]
    .filter(Boolean)
    .join("\n")
  return item
}

function unreadItem(s: Session): vscode.TreeItem {
  const item = new vscode.TreeItem(s.id, vscode.TreeItemCollapsibleState.None)
  item.description = "cannot be read"
  item.iconPath = new vscode.ThemeIcon("warning")
  item.tooltip = s.error
  return item
}

function turnItem(turn: Turn): vscode.TreeItem {
  const files = filesOf(turn).length
  const expandable = files > 0 || isRunning(turn)
  const item = new vscode.TreeItem(
    firstLine(promptOf(turn)) || `turn ${turn.number}`,
    expandable ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  )
  item.id = ["turn", turn.session.root, turn.session.id, turn.messages[0]?.id].join(" ")
  const state = isRunning(turn) ? "running" : isReverted(turn) ? "taken back" : ""
  item.description = [state, agentOf(turn), ago(beganAt(turn)), files > 0 && count(files, "file")].filter(Boolean).join(" · ")
  item.iconPath = new vscode.ThemeIcon(isRunning(turn) ? "sync~spin" : isReverted(turn) ? "discard" : files > 0 ? "edit" : "comment")
  item.contextValue = expandable ? "cairn.turn" : "cairn.emptyTurn"
  item.tooltip = [promptOf(turn).slice(0, 2000), modelOf(turn), new Date(beganAt(turn)).toLocaleString()].filter(Boolean).join("\n\n")
  return item
}

function changeItem(node: Node & { kind: "change" }): vscode.TreeItem {
  const { change } = node
  const name = shown(change.path)
  const item = new vscode.TreeItem(name.slice(name.lastIndexOf("/") + 1))
  const directory = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : ""
  item.description = [letters[change.status], directory].filter(Boolean).join(" · ")
  item.tooltip = `${name}: ${change.status}`
  item.contextValue = "cairn.change"
  item.iconPath = new vscode.ThemeIcon({ added: "diff-added", modified: "diff-modified", deleted: "diff-removed" }[change.status])
  item.accessibilityInformation = { label: `${name}, ${change.status}` }
  item.command = { command: "cairn.openChange", title: "Open Changes", arguments: [node] }
  return item
}
