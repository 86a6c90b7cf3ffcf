// The turns of a session: each is a prompt with everything that was done for it. The rules are
// those of session.Turns in Go.
import type { Backend, Change, Message, Session, Step } from "./api.ts"

export interface Turn {
  session: Session
  number: number // from 1
  messages: Message[]
  steps: Step[] // that were captured or are under way
}

// turnsOf groups the messages of a session. A message of the user begins a turn. In a session
// without such a message each one is a turn.
export function turnsOf(session: Session, history: Message[]): Turn[] {
  const anyUser = history.some((m) => m.role === "user")
  const turns: Turn[] = []
  for (const m of history) {
    const last = turns.at(-1)
    if (!last || m.role === "user" || !anyUser) {
      turns.push({ session, number: turns.length + 1, messages: [m], steps: [...m.steps] })
    } else {
      last.messages.push(m)
      last.steps.push(...m.steps)
    }
  }
  return turns
}

export function promptOf(turn: Turn): string {
  return turn.messages.find((m) => m.prompt)?.prompt ?? ""
}

export function agentOf(turn: Turn): string {
  return turn.steps.find((s) => s.agent)?.agent ?? turn.messages.find((m) => m.agent)?.agent ?? turn.session.agent ?? ""
}

export function modelOf(turn: Turn): string {
  return turn.steps.find((s) => s.model)?.model ?? ""
}

export function isReverted(turn: Turn): boolean {
  return turn.messages[0]?.reverted === true
}

export function isRunning(turn: Turn): boolean {
  return turn.steps.some((s) => !s.after)
}

export function beganAt(turn: Turn): string {
  return turn.messages[0]?.created ?? turn.session.created
}

export function endedAt(turn: Turn): string {
  const last = turn.steps.at(-1)
  return last?.ended ?? last?.began ?? beganAt(turn)
}

// Span is two states. "" is the disk.
export interface Span {
  from: string
  to: string
}

// spanOf returns the states around a turn, undefined for a turn without steps.
export function spanOf(turn: Turn): Span | undefined {
  const [first, last] = [turn.steps[0], turn.steps.at(-1)]
  return first && last && { from: first.before.hash, to: last.after?.hash ?? "" }
}

// filesOf returns the absolute paths that the steps of a turn changed.
export function filesOf(turn: Turn): string[] {
  return [...new Set(turn.steps.flatMap((s) => s.patch.files ?? []))].sort()
}

// changesOf returns how the files of a turn changed. What others changed between its steps is
// left out.
export async function changesOf(backend: Backend, turn: Turn): Promise<Change[]> {
  const span = spanOf(turn)
  if (!span) return []
  const changes = await backend.changes(span.from, span.to)
  if (isRunning(turn)) return changes
  const files = new Set(filesOf(turn).map(slashed))
  return changes.filter((c) => files.has(slashed(backend.root).replace(/\/$/, "") + "/" + c.path))
}

// slashed makes paths of Windows comparable with those from the root.
function slashed(path: string): string {
  return path.replaceAll("\\", "/")
}
