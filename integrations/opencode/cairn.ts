// cairn for OpenCode: every turn is a step that can be taken back, shell commands and
// sub-agents included, and OpenCode's own undo and redo bring the files along.
//
// OpenCode's own file snapshots are switched off while this plugin is at work: its
// undo loses work in ways that could not be repaired afterwards (renamed files, names
// that are not ASCII, deletions on redo). The messages of /undo and /redo stay
// OpenCode's; the files follow what it decides, through the cairn program.
//
// Nothing here may throw: an exception in a hook would block the tool.
import { spawn } from "node:child_process"
import type { Config, Hooks, Plugin, PluginInput } from "@opencode-ai/plugin"
import type { Event, Part, Session } from "@opencode-ai/sdk"

const CAIRN = process.env.CAIRN_BIN ?? "cairn"
const PATIENCE = 30_000 // milliseconds for one call

// Tools that change no file are not worth a call.
const READS = new Set(["read", "glob", "grep", "list", "ls", "codesearch", "webfetch", "websearch", "todowrite", "todoread", "skill", "question", "lsp"])

interface Answer {
  ok: boolean
  error?: string
  text?: string
  result?: { restored: string[]; deleted: string[]; kept: Reason[]; conflicts: Reason[]; notTakenBack?: Reason[] }
}
interface Reason {
  path: string
  reason: string
}

export const CairnPlugin: Plugin = async ({ client, directory, worktree }: PluginInput): Promise<Hooks> => {
  const cwd = worktree && worktree !== "/" ? worktree : directory
  const parents = new Map<string, string | undefined>() // of the sessions that were met
  const turns = new Map<string, string>() // session -> the user's message
  const owners = new Map<string, string>() // tool call -> session
  const reverts = new Map<string, string | undefined>() // session -> message and part of its revert
  const queues = new Map<string, Promise<unknown>>()
  let usable: Promise<boolean> | undefined

  const tell = async (message: string, variant: "info" | "warning" | "error") => {
    const body = { service: "cairn", level: variant === "warning" ? ("warn" as const) : variant, message }
    await client.app.log({ body }).catch(() => {})
    if (variant !== "info") await client.tui.showToast({ body: { title: "cairn", message, variant } }).catch(() => {})
  }

  const works = () => (usable ??= run(cwd, ["version"], "").then((r) => r.status === 0))

  // ask sends one event to cairn; undefined means that there is no answer.
  const ask = async (event: Record<string, unknown>): Promise<Answer | undefined> => {
    if (!(await works())) return undefined
    const { stdout } = await run(cwd, ["hook", "opencode"], JSON.stringify({ cwd: directory, ...event }))
    try {
      const answer = JSON.parse(stdout) as Answer
      if (!answer.ok) await tell(answer.error ?? "failed", "error")
      return answer
    } catch {
      return undefined
    }
  }

  // inOrder lets the calls of one session wait for each other, so that a step never
  // begins before a revert has ended.
  const inOrder = (session: string, f: () => Promise<unknown>): Promise<unknown> => {
    const next = (queues.get(session) ?? Promise.resolve()).then(f).catch((e) => tell(String(e), "error"))
    queues.set(session, next)
    return next
  }

  const messages = async (session: string) => (await client.session.messages({ path: { id: session } })).data ?? []

  const meet = async (session: string) => {
    if (parents.has(session)) return
    const info = (await client.session.get({ path: { id: session } })).data
    parents.set(session, info?.parentID)
    if (info?.revert) reverts.set(session, info.revert.messageID + " " + (info.revert.partID ?? ""))
    if (info && !info.parentID) await inherit(session) // which must find no session of that name
    await ask({ event: "session", session, parent: info?.parentID, title: info?.title })
  }

  // inherit finds out whether a session is a fork. OpenCode does not say of which, but
  // tool calls keep their ids.
  const inherit = async (session: string) => {
    const own = await messages(session)
    const call = own.flatMap((m) => m.parts).map(callID).find((id) => id && owners.has(id) && owners.get(id) !== session)
    const source = call && owners.get(call)
    if (!source) return
    const left = (await messages(source))[own.length]
    await ask({ event: "fork", session: source, message: left?.info.id, newSession: session })
    for (const id of own.flatMap((m) => m.parts).map(callID)) if (id) owners.set(id, session)
  }

  // follow brings the files to where OpenCode has gone back to: before the first call
  // at or behind the boundary. With no such call everything visible stands.
  const follow = async (session: string, revert: NonNullable<Session["revert"]>) => {
    let behind = false
    let part: string | undefined
    for (const m of await messages(session)) {
      behind ||= m.info.id === revert.messageID && !revert.partID
      for (const p of m.parts) {
        behind ||= p.id === revert.partID
        if (behind && !part) part = callID(p)
      }
    }
    await report(await ask(part ? { event: "revert", session, part } : { event: "unrevert", session }), "undo")
  }

  // release is called when a revert is gone: taken back, or made final by a new
  // prompt, which removes what was reverted.
  const release = async (session: string, boundary: string) => {
    const [message, part] = boundary.split(" ")
    const kept = (await messages(session)).find((m) => m.info.id === message)
    if (kept && (!part || kept.parts.some((p) => p.id === part))) await report(await ask({ event: "unrevert", session }), "redo")
  }

  const report = async (answer: Answer | undefined, what: string) => {
    const left = [...(answer?.result?.conflicts ?? []), ...(answer?.result?.kept ?? []), ...(answer?.result?.notTakenBack ?? [])]
    if (left.length === 0) return
    const lines = left.slice(0, 5).map((r) => `${r.path}: ${r.reason}`)
    await tell(`${what} left ${left.length} path(s) as they are:\n${lines.join("\n")}`, "warning")
  }

  const onEvent = async (event: Event) => {
    switch (event.type) {
      case "session.idle":
        return inOrder(event.properties.sessionID, () => ask({ event: "stop", session: event.properties.sessionID }))
      case "session.deleted":
        return inOrder(event.properties.info.id, () => ask({ event: "end", session: event.properties.info.id }))
      case "session.updated": {
        const { id, revert } = event.properties.info
        return inOrder(id, async () => {
          const was = reverts.get(id)
          const now = revert && revert.messageID + " " + (revert.partID ?? "")
          if (was === now) return
          reverts.set(id, now)
          if (revert) await follow(id, revert)
          else if (was) await release(id, was)
        })
      }
    }
  }

  return {
    config: async (config: Config) => {
      if (await works()) config.snapshot = false
    },
    event: async ({ event }) => {
      await onEvent(event).catch(() => {})
    },
    "chat.message": async ({ sessionID: session }, { message, parts }) => {
      turns.set(session, message.id)
      const prompt = parts.map((p) => (p.type === "text" && !p.synthetic ? p.text : "")).join("\n").trim()
      await inOrder(session, async () => {
        await meet(session)
        await ask({ event: "prompt", session, parent: parents.get(session), message: message.id, prompt })
      })
    },
    "tool.execute.before": async ({ tool, sessionID: session, callID: call }, { args }) => {
      if (READS.has(tool)) return
      owners.set(call, session)
      await inOrder(session, async () => {
        await meet(session)
        await ask({ event: "before", session, parent: parents.get(session), message: turns.get(session), call, tool, input: args })
      })
    },
    "tool.execute.after": async ({ tool, sessionID: session, callID: call, args }) => {
      if (READS.has(tool)) return
      await inOrder(session, () => ask({ event: "after", session, parent: parents.get(session), message: turns.get(session), call, tool, input: args }))
    },
  }
}

export default CairnPlugin

function callID(p: Part): string | undefined {
  return p.type === "tool" && !READS.has(p.tool) ? p.callID : undefined
}

function run(cwd: string, args: string[], input: string): Promise<{ status: number; stdout: string }> {
  return new Promise((resolve) => {
    const failed = { status: -1, stdout: "" }
    try {
      const child = spawn(CAIRN, args, { cwd, stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE, windowsHide: true })
      let stdout = ""
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
      child.on("error", () => resolve(failed)).on("close", (code) => resolve({ status: code ?? -1, stdout }))
      child.stdin.on("error", () => {}).end(input)
    } catch {
      resolve(failed)
    }
  })
}
