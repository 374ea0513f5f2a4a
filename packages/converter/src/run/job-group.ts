/** The group of a job that GitLab shows as one entry of its stage: `rspec` of `rspec 1/3`, `deploy` of `deploy: [aws, data]`. */
export interface JobGroup {
  readonly name: string
  /** The number of the job in its group, from 1, if the name counts its jobs as in `1/3`. */
  readonly index: number | undefined
}

/** More than GitLab allows for the name of a job. Longer names belong to no group. */
const MAX_CHARACTERS = 1_024
/** The number of endings that GitLab takes off a name. */
const MAX_ENDINGS = 3

/** Matches two numbers at the end of a name: `1/3`, `1:3`, `1 3`. */
const numbers = /[\s:]+\d+[\s:/\\]+\d+$/
/** Matches the values of a matrix: `: [aws, data]`. */
const matrix = /[\s:]+\[.*\]$/
const position = /\s(\d{1,9})\/(\d{1,9})\s*$/

/** Returns the group that a job belongs to by its name; `undefined` if the name has no such ending. */
export function jobGroup(jobName: string): JobGroup | undefined {
  if (jobName.length > MAX_CHARACTERS) return undefined
  const given = jobName.trimEnd()
  let name = given
  for (let endings = 0; endings < MAX_ENDINGS; endings++) {
    const ending = (name.endsWith(']') ? matrix : numbers).exec(name)
    if (ending === null) break
    name = name.slice(0, ending.index)
  }
  name = name.trim()
  return name === '' || name === given.trim() ? undefined : { name, index: indexIn(given) }
}

function indexIn(name: string): number | undefined {
  const [, index, count] = position.exec(name) ?? []
  return index !== undefined && Number(index) >= 1 && Number(index) <= Number(count) ? Number(index) : undefined
}
