// Whether a root is protected, or why not, in words.
import { type Backend, isKind, type Standing } from "./api.ts"
import { ago } from "./words.ts"

// State is also the value of the context key cairn.state.
export type State = "protected" | "empty" | "off" | "missing" | "failed" | "unknown"

export interface Protection {
  state: State
  text: string
}

// idle is what is said where no server runs and no program has been asked.
export const idle: Protection = {
  state: "unknown",
  text: "no server runs. Agents that cairn is connected with are protected without one; click to look.",
}

export async function protectionOf(backend: Backend): Promise<Protection> {
  return wordsOf(await backend.standing(), backend.kind)
}

export function wordsOf(s: Standing, kind: Backend["kind"], now = Date.now()): Protection {
  if (s.disabled !== undefined) return { state: "off", text: `captures are switched off: ${s.disabled}` }
  if (!s.newest) return { state: "empty", text: "no checkpoint yet: no agent that cairn is connected with has worked here" }
  const by = kind === "program" ? "no server runs" : s.watching ? "a server watches" : "a server runs"
  return { state: "protected", text: `newest checkpoint ${ago(s.newest.time, now)}; ${by}` }
}

export function failure(err: unknown): Protection {
  const text = (err as Error).message
  return { state: isKind(err, "no-program") ? "missing" : "failed", text }
}

// worst returns the state that the status bar shows for several roots.
export function worst(list: Protection[]): Protection | undefined {
  const order: State[] = ["missing", "failed", "off", "empty", "unknown", "protected"]
  return list.reduce<Protection | undefined>((w, p) => (!w || order.indexOf(p.state) < order.indexOf(w.state) ? p : w), undefined)
}

const labels: Record<State, string> = {
  protected: "$(shield) cairn: protected",
  empty: "$(circle-outline) cairn: no checkpoint",
  off: "$(circle-slash) cairn: switched off",
  missing: "$(warning) cairn: not found",
  failed: "$(warning) cairn: not protected",
  unknown: "$(circle-outline) cairn: no server",
}

export function labelOf(state: State): string {
  return labels[state]
}
