// One request to a server, through its private socket or, on Windows, by TCP with a token.
import * as http from "node:http"
import { Problem } from "./api.ts"

// Address is a way into a server.
export type Address = { socketPath: string } | { host: string; port: number; token: string }

// maxAnswer is the limit on an answer in bytes, so that a large file does not fill the
// memory of the editor.
const maxAnswer = 64 << 20

export interface Call {
  method: string
  target: string
  body?: unknown
  agent?: http.Agent
}

// open sends a request and returns the answer as soon as its header is there. An error status
// becomes a Problem.
export async function open(address: Address, call: Call): Promise<http.IncomingMessage> {
  const data = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body))
  const headers: http.OutgoingHttpHeaders = "token" in address ? { Authorization: `Bearer ${address.token}` } : { Host: "cairn" }
  if (data) Object.assign(headers, { "Content-Type": "application/json", "Content-Length": data.length })
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request({ ...address, method: call.method, path: call.target, headers, agent: call.agent ?? false }, resolve)
    request.on("error", reject)
    request.end(data)
  })
  if ((answer.statusCode ?? 500) < 400) return answer
  throw problemOf(await bytes(answer), answer.statusCode ?? 500)
}

function problemOf(body: Buffer, status: number): Problem {
  try {
    const p = JSON.parse(body.toString()) as { type?: string; detail?: string; title?: string }
    return new Problem((p.type ?? "").replace("urn:cairn:problem:", ""), p.detail || p.title || `status ${status}`)
  } catch {
    return new Problem("", `the server answered with status ${status}`)
  }
}

// bytes reads an answer to its end. An answer that was broken off is an error.
export async function bytes(answer: http.IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.length
    if (size > maxAnswer) {
      answer.destroy()
      throw new Problem("too-large", "the answer is too large for the editor")
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}
