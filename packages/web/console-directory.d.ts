/** The directory of the built console. It is missing until `npm run setup` has built it. */
export const consoleDirectory: string
