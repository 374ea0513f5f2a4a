import { emojiNames } from './emoji-names.ts'

/** The first name of each emoji, by all of its names. */
const firstNames = new Map(
  emojiNames.flatMap((names) => {
    const all = names.split('=')
    return all.map((name) => [name, all[0]!] as const)
  }),
)

/** Returns the first name of an emoji, or `undefined` if none has the given name. Colons around it are ignored. */
export const emojiNamed = (name: string): string | undefined => firstNames.get(name.replace(/^:(.*):$/, '$1'))
