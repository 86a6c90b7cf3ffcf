// A path may have any bytes. In JSON a byte that is not part of UTF-8 is U+0000 and two hex
// digits; internal/pathtext is the same in Go.

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

// bytesOf returns the bytes of a path that came in JSON.
export function bytesOf(text: string): Buffer {
  const parts: Buffer[] = []
  for (const [i, piece] of text.split("\0").entries()) {
    if (i === 0) {
      parts.push(Buffer.from(piece))
      continue
    }
    if (!/^[89a-f][0-9a-f]/.test(piece)) throw new Error(`bad escape in the path ${JSON.stringify(text)}`)
    parts.push(Buffer.from(piece.slice(0, 2), "hex"), Buffer.from(piece.slice(2)))
  }
  return Buffer.concat(parts)
}

// isPlain reports whether the name is UTF-8, so that the editor can open it on disk.
export function isPlain(text: string): boolean {
  return !text.includes("\0")
}

// unreadable says why the program cannot be asked about a name: Node passes only text to a process.
export const unreadable = "a name is not UTF-8: start the server, which takes names of any bytes"

// shown returns the path for people: U+FFFD for each byte that is not UTF-8.
export function shown(text: string): string {
  return text.replace(/\0[0-9a-f]{2}/g, "\uFFFD")
}

// inQuery percent-encodes the bytes of a path for a URL.
export function inQuery(text: string): string {
  let out = ""
  for (const b of bytesOf(text)) {
    const c = String.fromCharCode(b)
    out += /[A-Za-z0-9_.~/-]/.test(c) ? c : "%" + b.toString(16).toUpperCase().padStart(2, "0")
  }
  return out
}

// textOf is the inverse of bytesOf.
export function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return piecewise(Buffer.from(bytes))
  }
}

function piecewise(bytes: Buffer): string {
  let out = ""
  for (let i = 0; i < bytes.length;) {
    const size = [1, 2, 3, 4].find((n) => i + n <= bytes.length && isCharacter(bytes.subarray(i, i + n)))
    out += size ? bytes.toString("utf8", i, i + size) : "\0" + bytes.toString("hex", i, i + 1)
    i += size ?? 1
  }
  return out
}

function isCharacter(bytes: Buffer): boolean {
  try {
    return [...strict.decode(bytes)].length === 1
  } catch {
    return false
  }
}
