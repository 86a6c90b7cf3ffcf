// Every way back is a plan first: it is shown, confirmed, and carried out by its id, so that
// exactly what was shown happens, or nothing.
import * as vscode from "vscode"
import { isKind, type Result, type Way } from "./api.ts"
import { onDisk, type Project } from "./projects.ts"
import { inAllRoots, outcomeOf, previewOf, reasons } from "./words.ts"

export interface Request {
  project: Project
  way: Way
  question: string
  button: string
}

export class GoBack {
  constructor(
    private readonly output: vscode.OutputChannel,
    private readonly done: () => void,
  ) {}

  // offer makes the plan, asks, and carries it out. A plan that is out of date is made again.
  async offer(r: Request): Promise<Result | undefined> {
    for (;;) {
      const plan = await planOf(r)
      if (!plan) return undefined
      const { changes, detail } = previewOf(plan, unsaved(r.project, plan))
      if (changes === 0 || !plan.planID) {
        const open = plan.conflicts.length > 0
        void vscode.window.showInformationMessage(
          open ? "cairn: nothing can go back: every path is in conflict." : "cairn: there is nothing to change.",
          { modal: open, detail },
        )
        return undefined
      }
      const answer = await vscode.window.showWarningMessage(r.question, { modal: true, detail }, r.button)
      if (answer !== r.button) return undefined
      try {
        const result = inAllRoots(await r.project.backend.carryOut(r.way, plan.planID))
        this.tell(result)
        return result
      } catch (err) {
        if (!isKind(err, "moved")) throw err
        const again = await vscode.window.showWarningMessage("cairn: files have changed since the preview. Nothing was done.", "Look Again")
        if (!again) return undefined
      } finally {
        this.done()
      }
    }
  }

  private tell(result: Result): void {
    const left = [...reasons(result.conflicts), ...reasons(result.kept), ...reasons(result.notTakenBack ?? [])]
    const text = "cairn: " + outcomeOf(result) + "."
    if (left.length === 0) return void vscode.window.showInformationMessage(text)
    this.output.appendLine(text)
    for (const line of left) this.output.appendLine("  " + line)
    void vscode.window.showWarningMessage(text, "Show Details").then((answer) => answer && this.output.show())
  }
}

async function planOf(r: Request): Promise<Result | undefined> {
  try {
    return inAllRoots(await r.project.backend.plan(r.way))
  } catch (err) {
    if (!isKind(err, "not-found")) throw err
    void vscode.window.showInformationMessage(`cairn: ${(err as Error).message}.`)
    return undefined
  }
}

// unsaved returns the documents that a plan touches and that are not saved: their text in the
// editor stays, and saving it would overwrite what came back.
function unsaved(project: Project, plan: Result): string[] {
  const touched = new Set((plan.plan ?? []).map((c) => onDisk(project, c.path)?.toString()))
  return vscode.workspace.textDocuments
    .filter((d) => d.isDirty && touched.has(d.uri.toString()))
    .map((d) => vscode.workspace.asRelativePath(d.uri))
}
