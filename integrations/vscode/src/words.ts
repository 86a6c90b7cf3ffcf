// Texts for people.
import type { Checkpoint, PathReason, Result } from "./api.ts"
import { shown } from "./pathtext.ts"

// firstLine returns the first line of a prompt, shortened.
export function firstLine(text: string, limit = 80): string {
  const line = text.trim().split(/\r?\n/)[0] ?? ""
  const characters = [...line]
  return characters.length > limit ? characters.slice(0, limit - 1).join("") + "…" : line
}

// ago returns the age of a time.
export function ago(time: string, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000))
  for (const [unit, size] of [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
  ] as const) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`
  }
  return "now"
}

// titleOf names a checkpoint: by its prompt, else by its message.
export function titleOf(c: Checkpoint): string {
  return firstLine(c.work?.prompt ?? "") || firstLine(c.message) || "checkpoint"
}

export function authorOf(c: Checkpoint): string {
  return c.work?.agent ?? c.author
}

export function count(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? "" : "s"}`
}

// Preview is a plan in words.
export interface Preview {
  changes: number
  detail: string
}

const verbs: Record<string, string> = {
  create: "bring back",
  modify: "change",
  chmod: "change the mode of",
  delete: "delete",
  mkdir: "make the directory",
  rmdir: "remove the directory",
}

// inAllRoots returns a result with the paths of all directories; those of others are absolute.
export function inAllRoots(result: Result): Result {
  const sum = { ...result, inRoots: undefined }
  for (const share of result.inRoots ?? []) {
    const at = (path: string) => (path.startsWith("/") || /^[A-Za-z]:/.test(path) ? path : `${share.root.replace(/[\\/]$/, "")}/${path}`)
    const below = (list: PathReason[] = []) => list.map((r) => ({ ...r, path: at(r.path) }))
    sum.restored = [...sum.restored, ...share.restored.map(at)]
    sum.deleted = [...sum.deleted, ...share.deleted.map(at)]
    sum.kept = [...sum.kept, ...below(share.kept)]
    sum.conflicts = [...sum.conflicts, ...below(share.conflicts)]
    sum.notTakenBack = [...(sum.notTakenBack ?? []), ...below(share.notTakenBack)]
    sum.plan = [...(sum.plan ?? []), ...(share.plan ?? []).map((c) => ({ ...c, path: at(c.path) }))]
  }
  return sum
}

// previewOf says what a plan would do, at most limit lines of each kind.
export function previewOf(plan: Result, unsaved: string[] = [], limit = 15): Preview {
  const changes = (plan.plan ?? []).map((c) => `${verbs[c.action] ?? c.action} ${shown(c.path)}`)
  const parts = [
    listed("", changes, limit),
    listed("In conflict, stays as it is:", reasons(plan.conflicts), limit),
    listed("Kept:", reasons(plan.kept), limit),
    listed("Not taken back:", reasons(plan.notTakenBack ?? []), limit),
    listed("Not saved in the editor:", unsaved, limit),
  ]
  return { changes: changes.length, detail: parts.filter(Boolean).join("\n\n") }
}

// outcomeOf says in one line what was done.
export function outcomeOf(result: Result): string {
  const parts = [
    result.restored.length && `${count(result.restored.length, "file")} brought back`,
    result.deleted.length && `${count(result.deleted.length, "file")} deleted`,
    result.kept.length && `${result.kept.length} kept`,
    result.conflicts.length && `${result.conflicts.length} in conflict`,
  ]
  return parts.filter(Boolean).join(", ") || "nothing changed"
}

export function reasons(list: PathReason[]): string[] {
  return list.map((r) => `${shown(r.path)}: ${r.reason}`)
}

function listed(title: string, lines: string[], limit: number): string {
  if (lines.length === 0) return ""
  const more = lines.length > limit ? [`… and ${lines.length - limit} more`] : []
  return [title, ...lines.slice(0, limit), ...more].filter(Boolean).join("\n")
}
