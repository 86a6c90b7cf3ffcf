// cairn for OpenCode: every turn is a step that can be taken back, shell commands and
// sub-agents included, and OpenCode's own undo and redo bring the files along.
//
// OpenCode's own file snapshots are switched off while this plugin is at work: its
// undo loses work in ways that could not be repaired afterwards (renamed files, names
// that are not ASCII, deletions on redo). The messages of /undo and /redo stay
// OpenCode's; the files follow what it decides, through the cairn program.
//
// A line that begins with cairn is answered without the model. There is one way to keep a
// prompt from it: the hook throws. Nothing else here may throw: an exception in a hook
// would block the tool.
import { spawn } from "node:child_process"
import type { Config, Hooks, Plugin, PluginInput } from "@opencode-ai/plugin"
import type { Event, Part, Session } from "@opencode-ai/sdk"

const CAIRN = process.env.CAIRN_BIN ?? "cairn"
const OPTIONS: string[] = [] // of each call, before its command
const PATIENCE = 30_000 // milliseconds for one call
const LONG_PATIENCE = 600_000 // for one that the user waits for
const SHOWN = 20_000 // milliseconds for a message
const AFTER = [300, 2_000] // milliseconds; OpenCode first says that the prompt failed
const FORK = / \(fork #\d+\)$/ // at the end of a title
const NO_ANSWER = "cairn gives no answer; cairn doctor in a shell says more"

// Tools that change no file are not worth a call.
const READS = new Set(["read", "glob", "grep", "list", "ls", "codesearch", "webfetch", "websearch", "todowrite", "todoread", "skill", "question", "lsp"])

interface Answer {
  ok: boolean
  error?: string
  text?: string
  report?: string // for the model: what went back since the prompt before
  handled?: boolean // what was typed is a command
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
  let broken = false // cairn is there, and does not work

  const unprotected = new Map<string, string>() // session -> why
  const unsaved = new Set<string>() // of those, with a turn that could not be captured
  let latest = 0 // message on the screen

  const tell = async (message: string, variant: "info" | "warning" | "error") => {
    latest++
    const body = { service: "cairn", level: variant === "warning" ? ("warn" as const) : variant, message }
    await client.app.log({ body }).catch(() => {})
    if (variant !== "info") await client.tui.showToast({ body: { title: "cairn", message, variant, duration: SHOWN } }).catch(() => {})
  }

  // works reports whether cairn can be run. That decides about OpenCode's snapshots, so it holds as long as OpenCode runs.
  const works = () =>
    (usable ??= run(cwd, ["version"], "").then((r) => {
      broken = r.status !== 0 && !r.missing
      return r.status === 0
    }))

  // request sends one event to cairn; undefined means that cairn cannot be run, and OpenCode's snapshots are on.
  const request = async (event: Record<string, unknown>, patience = PATIENCE): Promise<Answer | undefined> => {
    if (!(await works())) return undefined
    const { stdout } = await run(cwd, ["hook", "opencode"], JSON.stringify({ cwd: directory, patience, ...event }), patience)
    try {
      return JSON.parse(stdout) as Answer
    } catch {
      return { ok: false, error: NO_ANSWER }
    }
  }

  // ask also tells what failed. Where nothing of a session can be captured, that is said at
  // its beginning and at the end of each turn that went unsaved, and no failure in between.
  const ask = async (event: Record<string, unknown> & { event: string; session: string }) => {
    const { event: name, session } = event
    const answer = await request(event)
    const why = unprotected.get(session)
    if (name === "stop" && why && unsaved.delete(session)) await tell(why, "error")
    else if (answer && !answer.ok) {
      const error = answer.error ?? "failed"
      if (name === "session") unprotected.set(session, error)
      if (why) unsaved.add(session)
      else await tell(error, "error")
    } else if (answer && name === "session") unprotected.delete(session)
    if (answer?.ok && answer.text && (name === "session" || name === "stop")) await tell(answer.text, "warning")
    return answer
  }

  // move brings the files to another place, for which the user waits.
  const move = async (event: Record<string, unknown>, what: string) => {
    const answer = await request(event, LONG_PATIENCE)
    if (answer?.ok) await report(answer, what)
    else if (answer) await tell(answer.error ?? "failed", "error")
  }

  // typed returns the answer to a line that is a command, undefined for all others. cairn
  // decides: a sentence about it is for the model.
  const typed = async (session: string, prompt: string) => {
    if (!/^\/?cairn[ -]/i.test(prompt)) return undefined
    const answer = await request({ event: "typed", session, prompt }, LONG_PATIENCE)
    return answer?.handled ? (answer.text ?? answer.error ?? "done") : undefined
  }

  // show shows an answer once OpenCode has said that the prompt failed.
  const show = (message: string) => {
    const body = { title: "cairn", message: message.replace(/^cairn: /, ""), variant: "info" as const, duration: SHOWN }
    const mine = ++latest
    for (const wait of AFTER) setTimeout(() => void (mine === latest && client.tui.showToast({ body }).catch(() => {})), wait)
  }

  // inOrder lets the calls of one session wait for each other, so that a step never
  // begins before a revert has ended.
  const inOrder = (session: string, f: () => Promise<unknown>): Promise<unknown> => {
    const next = (queues.get(session) ?? Promise.resolve()).then(f).catch((e) => tell(String(e), "error"))
    queues.set(session, next)
    return next
  }

  // A session whose messages were taken back before this start of OpenCode may be heard of first when its redo is over.
  const sessions = async () => (await client.session.list()).data ?? []
  const listed = sessions().then((list) => {
    for (const { id, revert } of list) if (revert && !reverts.has(id)) reverts.set(id, boundaryOf(revert))
  })
  const earlier = Promise.race([listed.catch(() => {}), new Promise((resolve) => setTimeout(resolve, PATIENCE).unref())])

  const messages = async (session: string) => {
    const { data } = await client.session.messages({ path: { id: session } })
    if (!data) throw new Error("OpenCode does not list the messages of the session")
    return data
  }

  // meet begins a session. One that cairn cannot protect is begun again with each prompt.
  const meet = async (session: string, prompt = false) => {
    const met = parents.has(session)
    if (met && !(prompt && unprotected.has(session))) return
    const info = (await client.session.get({ path: { id: session } }).catch(() => undefined))?.data
    if (info) parents.set(session, info.parentID)
    if (info?.revert && !met) reverts.set(session, boundaryOf(info.revert))
    // Before its session begins: a fork must find no session of that name.
    if (info && !info.parentID && !met) await inherit(session, info.title).catch((e) => tell(String(e), "error"))
    await ask({ event: "session", session, parent: info?.parentID, title: info?.title })
    if (broken && !info?.parentID) await tell(NO_ANSWER + "; the agent's own undo is at work instead", "error")
  }

  // inherit finds out whether a session is a fork. OpenCode does not say of which, but tool calls keep their ids.
  const inherit = async (session: string, title: string) => {
    const own = await messages(session)
    const calls = own.flatMap((m) => m.parts).flatMap((p) => callID(p) ?? [])
    const call = calls.find((id) => owners.has(id) && owners.get(id) !== session)
    const known = call && owners.get(call)
    for (const source of known ? [known] : await namesakes(session, title, calls)) {
      const left = (await messages(source))[own.length]
      // A session that cairn knows is no new fork, and cairn refuses it.
      if ((await request({ event: "fork", session: source, message: left?.info.id, newSession: session }))?.ok) break
    }
    for (const id of calls) owners.set(id, session)
  }

  // namesakes lists the sessions that a fork may be of whose source was not met since this start of OpenCode: those of
  // the same title that have the fork's calls.
  const namesakes = async (session: string, title: string, calls: string[]) => {
    const plain = title.replace(FORK, "")
    if (plain === title || calls.length === 0) return []
    const list: string[] = []
    for (const s of await sessions()) {
      if (s.id === session || s.title.replace(FORK, "") !== plain) continue
      if ((await messages(s.id)).some((m) => m.parts.some((p) => callID(p) === calls[0]))) list.push(s.id)
    }
    return list
  }

  // follow brings the files to where OpenCode has gone back to: before the first call
  // at or behind the boundary. With no such call everything visible stands.
  const follow = async (session: string, revert: NonNullable<Session["revert"]>) => {
    let behind = false
    let first: Part | undefined
    for (const m of await messages(session)) {
      behind ||= m.info.id === revert.messageID && !revert.partID
      for (const p of m.parts) {
        behind ||= p.id === revert.partID
        if (behind && !first && callID(p)) first = p
      }
    }
    if (!first) return move({ event: "unrevert", session }, "undo")
    // The hooks of a command that is a sub-task, as /review, name its call by the part.
    const call = callID(first)!
    if (first.type === "tool" && first.tool === "task" && !owners.has(call)) {
      const answer = await request({ event: "revert", session, part: first.id }, LONG_PATIENCE)
      if (answer?.ok) return report(answer, "undo")
    }
    await move({ event: "revert", session, part: call }, "undo")
  }

  // release is called when a revert is gone: taken back, or made final by a new
  // prompt, which removes what was reverted.
  const release = async (session: string, boundary: string) => {
    const [message, part] = boundary.split(" ")
    const kept = (await messages(session)).find((m) => m.info.id === message)
    if (kept && (!part || kept.parts.some((p) => p.id === part))) await move({ event: "unrevert", session }, "redo")
  }

  const report = async ({ result, text }: Answer, what: string) => {
    const left = [...(result?.conflicts ?? []), ...(result?.kept ?? []), ...(result?.notTakenBack ?? [])]
    const lines = left.slice(0, 5).map((r) => `${r.path}: ${r.reason}`)
    if (left.length > 0) lines.unshift(`${what} left ${left.length} path(s) as they are:`)
    if (text) lines.push(text)
    if (lines.length > 0) await tell(lines.join("\n"), "warning")
  }

  const onEvent = async (event: Event) => {
    switch (event.type) {
      case "session.idle":
        return inOrder(event.properties.sessionID, () => {
          const session = event.properties.sessionID
          return ask({ event: "stop", session, parent: parents.get(session) })
        })
      case "session.deleted":
        return inOrder(event.properties.info.id, () => ask({ event: "end", session: event.properties.info.id }))
      case "session.updated": {
        const { id, revert } = event.properties.info
        return inOrder(id, async () => {
          await earlier
          const was = reverts.get(id)
          const now = revert && boundaryOf(revert)
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
    "chat.message": async ({ sessionID: session, model }, { message, parts }) => {
      const prompt = parts.map((p) => (p.type === "text" && !p.synthetic ? p.text : "")).join("\n").trim()
      const answer = await typed(session, prompt).catch(() => undefined)
      if (answer !== undefined) {
        show(answer)
        throw new Error(answer)
      }
      turns.set(session, message.id)
      await inOrder(session, async () => {
        await meet(session, true)
        const answer = await ask({ event: "prompt", session, parent: parents.get(session), message: message.id, prompt, model: model?.modelID })
        const last = parts.at(-1)
        if (answer?.report && last) parts.push({ id: last.id + "r", sessionID: session, messageID: message.id, type: "text", text: answer.report, synthetic: true })
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

function boundaryOf(revert: NonNullable<Session["revert"]>): string {
  return revert.messageID + " " + (revert.partID ?? "")
}

function callID(p: Part): string | undefined {
  return p.type === "tool" && !READS.has(p.tool) ? p.callID : undefined
}

function run(cwd: string, args: string[], input: string, timeout = PATIENCE): Promise<{ status: number; stdout: string; missing?: boolean }> {
  return new Promise((resolve) => {
    const failed = (e: unknown) => resolve({ status: -1, stdout: "", missing: (e as NodeJS.ErrnoException).code === "ENOENT" })
    try {
      const child = spawn(CAIRN, [...OPTIONS, ...args], { cwd, stdio: ["pipe", "pipe", "ignore"], timeout, windowsHide: true })
      let stdout = ""
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
      child.on("error", failed).on("close", (code) => resolve({ status: code ?? -1, stdout }))
      child.stdin.on("error", () => {}).end(input)
    } catch (e) {
      failed(e)
    }
  })
}
