// Hunks by line. The editor counts lines from 0, a hunk from 1.
import type { Hunk } from "./api.ts"

// Lines is a range on the new side, both ends included. A hunk that only deletes lines has the
// line after them.
export interface Lines {
  first: number
  last: number
}

// linesOf returns the changed lines of a hunk on the new side, without its context.
export function linesOf(hunk: Hunk): Lines {
  let line = Math.max(hunk.newStart, 1) - 1
  let first: number | undefined
  let last = 0
  for (const text of hunk.lines) {
    const sign = text[0]
    if (sign === "-" || sign === "+") first ??= line
    if (sign === "+") last = line
    if (sign === "+" || sign === " ") line++
  }
  return { first: first ?? line, last: Math.max(last, first ?? line) }
}

// hunkAt returns the hunk at a line, else the nearest one within a few lines.
export function hunkAt(hunks: Hunk[], line: number): Hunk | undefined {
  const distance = (h: Hunk) => {
    const { first, last } = linesOf(h)
    return line < first ? first - line : Math.max(0, line - last)
  }
  const nearest = hunks.reduce<Hunk | undefined>((best, h) => (!best || distance(h) < distance(best) ? h : best), undefined)
  return nearest && distance(nearest) <= 3 ? nearest : undefined
}

// summaryOf counts the lines of a hunk.
export function summaryOf(hunk: Hunk): string {
  const added = hunk.lines.filter((l) => l.startsWith("+")).length
  const deleted = hunk.lines.filter((l) => l.startsWith("-")).length
  return hunk.whole ? hunk.header : `+${added} −${deleted}`
}
