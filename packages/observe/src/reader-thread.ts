// The entry point of the thread that answers queries. A long query, or a long answer, delays only other queries.
import { openReadOnly } from '@penstock/db'
import type { ObserveLimits } from './observe-limits.ts'
import { type Answer, answerQuestion, type Question } from './questions.ts'
import type { ObserveTables } from './tables.ts'
import { serveThread } from './thread-messages.ts'

serveThread<{ file: string; limits: ObserveLimits }, Question, Answer | undefined>(({ file, limits }) => {
  const db = openReadOnly<ObserveTables>(file)
  let last: Promise<unknown> = Promise.resolve()
  return {
    answer(question) {
      // Queries run one after another, so that the memory of one answer is the most that is ever used.
      const answer = last.then(() => answerQuestion(db.read, question, limits))
      last = answer.catch(() => {})
      return answer
    },
    transferred: (answer) => (answer === undefined ? [] : [answer.json.buffer]),
    async close() {
      await last
      await db.close()
    },
  }
})
