import { expect, test } from 'vitest'
import { csvText } from './csv.ts'

test('quotes values, and keeps formulas from being run', () => {
  expect(
    csvText(
      ['job', 'seconds'],
      [
        ['a,"b"', 1.5],
        ['=cmd()', null],
        ['-x', -2],
      ],
    ),
  ).toBe('job,seconds\r\n"a,""b""",1.5\r\n\'=cmd(),\r\n\'-x,-2\r\n')
})
