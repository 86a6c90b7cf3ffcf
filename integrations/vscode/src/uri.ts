// URIs of files as they were: cairn:/PATH?{"hash","root","path"}. The path of the URI is for people
// and for the choice of a language; the query has the exact names.

export const scheme = "cairn"

export interface Place {
  hash: string // "" is the disk, for names that the editor cannot open there
  root: string
  path: string // of any bytes, see pathtext.ts
}

export function encodePlace(place: Place): string {
  return JSON.stringify({ hash: place.hash, root: place.root, path: place.path })
}

export function decodePlace(query: string): Place {
  const p = JSON.parse(query) as Partial<Place>
  if (typeof p.hash !== "string" || typeof p.root !== "string" || typeof p.path !== "string")
    throw new Error("no place of a checkpoint: " + query)
  return { hash: p.hash, root: p.root, path: p.path }
}
