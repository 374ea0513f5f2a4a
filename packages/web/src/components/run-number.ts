const MAX_NUMBER = 12

/** Returns the number by which people name a run: its id, or its number in the project if the id is a text, such as a UUID. */
export function runNumber(id: string | null, numberInProject: number | string | null): string | null {
  if (id === null || /^\d+$/.test(id)) return id
  return numberInProject === null ? id.slice(0, MAX_NUMBER) : String(numberInProject)
}
