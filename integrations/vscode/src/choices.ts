// What an undo or a redo may be about: the newest turn of a session, or the newest operation.
// The plan decides what it does; a choice only names it.
import type { Backend, Message, Operation, Session, Way } from "./api.ts"
import { agentOf, endedAt, filesOf, isReverted, isRunning, promptOf, type Turn, turnsOf } from "./turns.ts"
import { ago, count, firstLine } from "./words.ts"

export interface Choice {
  way: Way
  label: string
  detail: string
  time: string
}

// looked is the number of sessions whose histories are read, the newest first.
const looked = 5

export async function choicesOf(backend: Backend, forward: boolean): Promise<Choice[]> {
  const sessions = (await backend.sessions()).filter((s) => !s.error).slice(0, looked)
  const found: (Choice | undefined)[] = [operationOf(await backend.operations(100), forward)]
  for (const session of sessions) {
    found.push(turnChoice(session, await backend.history(session.id), forward))
  }
  return found.filter((c) => c !== undefined).sort((a, b) => Date.parse(b.time) - Date.parse(a.time))
}

// turnChoice returns the newest turn that is in effect, or the first one that was taken back.
export function turnChoice(session: Session, history: Message[], forward: boolean): Choice | undefined {
  const turns = turnsOf(session, history).filter((t) => filesOf(t).length > 0 || isRunning(t))
  const turn = forward ? turns.find(isReverted) : turns.findLast((t) => !isReverted(t))
  return turn && choiceOf(turn, forward)
}

function choiceOf(turn: Turn, forward: boolean): Choice {
  const way: Way = { action: forward ? "redo-turn" : "undo-turn", session: turn.session.id }
  const who = [agentOf(turn), isRunning(turn) ? "running" : ago(endedAt(turn)), count(filesOf(turn).length, "file")]
  return { way, label: firstLine(promptOf(turn)) || `turn ${turn.number}`, detail: who.filter(Boolean).join(" · "), time: endedAt(turn) }
}

// operationOf returns the newest operation that is in effect, or the newest one that was undone
// with nothing done since. Operations come newest first.
function operationOf(operations: Operation[], forward: boolean): Choice | undefined {
  const undone = new Set<string>()
  for (const o of operations) {
    if (forward && undone.has(o.id)) continue // it was done again
    if (o.kind === "undo" && o.undoes) {
      if (forward) return operationChoice(o, operations.find((u) => u.id === o.undoes) ?? o, "redo")
      undone.add(o.undoes)
    } else if (o.kind === "redo" && forward && o.undoes) {
      undone.add(o.undoes)
    } else if (!undone.has(o.id)) {
      return forward ? undefined : operationChoice(o, o, "undo")
    }
  }
  return undefined
}

function operationChoice(done: Operation, about: Operation, action: "undo" | "redo"): Choice {
  return { way: { action }, label: `the ${about.kind} of ${count(about.paths.length, "file")}`, detail: ago(done.time), time: done.time }
}
