import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * Overwrites a file in place, as a failing disk does: processes that have it open read invalid data from then on.
 *
 * @returns a function that restores the file
 */
export function damage(path: string): () => void {
  const content = readFileSync(path)
  overwrite(path, Buffer.alloc(content.length, 0xff))
  return () => overwrite(path, content)
}

function overwrite(path: string, content: Buffer): void {
  const file = openSync(path, 'r+')
  writeSync(file, content, 0, content.length, 0)
  fsyncSync(file)
  closeSync(file)
}
