// Entries in the editor's Timeline. Its interface is still a proposed one: the editor gives it only
// to an extension that declares it and is named by --enable-proposed-api or in the product's list.
// The package for a market place declares nothing, and this file does nothing there; the view of
// the file history shows the same.
import * as vscode from "vscode"
import { type Entry, entriesOf, iconOf, subjectOf } from "./filehistory.ts"
import type { Projects } from "./projects.ts"
import { scheme } from "./uri.ts"
import { authorOf, titleOf } from "./words.ts"

// The part of the proposed interface that is used here.
interface TimelineItem {
  timestamp: number
  label: string
  id?: string
  iconPath?: vscode.ThemeIcon
  description?: string
  command?: vscode.Command
}

interface TimelineProvider {
  id: string
  label: string
  onDidChange: vscode.Event<undefined>
  provideTimeline(
    uri: vscode.Uri,
    options: { cursor?: string },
  ): Promise<{ items: TimelineItem[]; paging?: { cursor: string } } | undefined>
}

type Workspace = typeof vscode.workspace & { registerTimelineProvider(schemes: string[], provider: TimelineProvider): vscode.Disposable }

export class Timeline {
  private readonly changed = new vscode.EventEmitter<undefined>()

  constructor(private readonly projects: Projects) {}

  refresh(): void {
    this.changed.fire(undefined)
  }

  // register returns undefined where the editor does not give the interface to this extension.
  register(extension: vscode.Extension<unknown>): vscode.Disposable | undefined {
    const { enabledApiProposals = [] } = extension.packageJSON as { enabledApiProposals?: string[] }
    if (!enabledApiProposals.includes("timeline")) return undefined
    // In a remote window the editor's own name for a file on the remote disk has another scheme.
    return (vscode.workspace as Workspace).registerTimelineProvider(["file", "vscode-remote", scheme], {
      id: "cairn",
      label: "cairn",
      onDidChange: this.changed.event,
      provideTimeline: async (uri, { cursor }) => {
        const subject = await subjectOf(this.projects, uri)
        if (!subject) return undefined
        const { entries, next } = await entriesOf(subject, cursor)
        return { items: entries.map(itemOf), paging: next === undefined ? undefined : { cursor: next } }
      },
    })
  }
}

function itemOf(e: Entry): TimelineItem {
  const { checkpoint: c } = e
  return {
    timestamp: Date.parse(c.time),
    label: titleOf(c),
    id: c.id,
    iconPath: iconOf(c),
    description: authorOf(c),
    command: { command: "cairn.openEntry", title: "Compare with This Checkpoint", arguments: [e] },
  }
}
