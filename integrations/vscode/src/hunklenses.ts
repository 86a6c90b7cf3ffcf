// A button above each hunk of a comparison that is open. It stands in every editor of the newer
// side, and in the comparison itself where diffEditor.codeLens is on.
import * as vscode from "vscode"
import type { Hunk, Way } from "./api.ts"
import { type Comparison, comparisonOf, isCompared } from "./comparisons.ts"
import { hunkAt, linesOf, summaryOf } from "./hunks.ts"
import type { Projects } from "./projects.ts"

export class HunkLenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>()
  readonly onDidChangeCodeLenses = this.changed.event

  constructor(
    private readonly projects: Projects,
    private readonly failed: (err: unknown) => void,
  ) {}

  refresh(): void {
    this.changed.fire()
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (document.isDirty || !isCompared(document.uri)) return []
    try {
      const comparison = await comparisonOf(this.projects, document.uri)
      return comparison ? (await hunksOf(comparison)).map((hunk) => lens(document, comparison, hunk)) : []
    } catch (err) {
      this.failed(err)
      return []
    }
  }
}

function lens(document: vscode.TextDocument, comparison: Comparison, hunk: Hunk): vscode.CodeLens {
  const line = Math.min(linesOf(hunk).first, document.lineCount - 1)
  return new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
    title: `$(discard) Take back ${summaryOf(hunk)}`,
    tooltip: "Takes these lines back, after a preview, and keeps what came later",
    command: "cairn.takeBackHunk",
    arguments: [comparison, hunk.id],
  })
}

export function hunksOf(c: Comparison): Promise<Hunk[]> {
  return c.project.backend.hunks(c.from, c.to, c.path)
}

export function wayOf(c: Comparison, hunkID: string): Way {
  return { action: "revert", from: c.from, to: c.to, hunks: [hunkID], paths: [c.path] }
}

// hunkAtCursor returns the comparison of the active editor and the hunk at its cursor.
export async function hunkAtCursor(projects: Projects): Promise<{ comparison: Comparison; hunk: Hunk } | undefined> {
  const editor = vscode.window.activeTextEditor
  const comparison = editor && (await comparisonOf(projects, editor.document.uri))
  if (!comparison) return undefined
  if (editor.document.isDirty) throw new Error("save the file first: hunks are those of the file on disk")
  const hunk = hunkAt(await hunksOf(comparison), editor.selection.active.line)
  return hunk && { comparison, hunk }
}
