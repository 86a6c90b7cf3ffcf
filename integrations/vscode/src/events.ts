// The stream of a server's events (server-sent events). Each event is one line of data.
import type { IncomingMessage } from "node:http"
import type { Event } from "./api.ts"
import { type Address, open } from "./http.ts"

export class EventStream {
  private answer: IncomingMessage | undefined
  private closed = false

  constructor(
    private readonly onEvent: (event: Event) => void,
    private readonly onEnd: () => void,
  ) {}

  // listen opens the stream. It returns when the server has said that it listens.
  async listen(address: Address): Promise<void> {
    const answer = await open(address, { method: "GET", target: "/events" })
    if (this.closed) return void answer.destroy()
    this.answer = answer
    answer.setEncoding("utf8")
    let rest = ""
    answer.on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) this.take(line)
    })
    answer.on("error", () => {}) // "close" follows
    answer.on("close", () => this.end())
  }

  private take(line: string): void {
    if (this.closed || !line.startsWith("data:")) return
    const event = JSON.parse(line.slice(5)) as Event
    if (event.type !== "hello") this.onEvent(event)
  }

  private end(): void {
    if (this.closed) return
    this.closed = true
    this.onEnd()
  }

  close(): void {
    this.closed = true
    this.answer?.destroy()
  }
}
