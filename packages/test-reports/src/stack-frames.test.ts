import { expect, test } from 'vitest'
import { firstFrame } from './stack-frames.ts'

test.each([
  ['    at Object.<anonymous> (/b/a.test.js:8:44)', '/b/a.test.js', 8],
  ['    at async file:///b/a.mjs:8:44', '/b/a.mjs', 8],
  ['    at C:\\b\\a.ts:8:44', 'C:\\b\\a.ts', 8],
  [' ❯ total src/a.mjs:5:43', 'src/a.mjs', 5],
  [' ❯ a.test.mjs:5:43', 'a.test.mjs', 5],
  ['  File "/b/a.py", line 7, in f', '/b/a.py', 7],
  ['tests/test_a.py:13: AssertionError', 'tests/test_a.py', 13],
  ['    a_test.go:16: got 5, want 6', 'a_test.go', 16],
  ['\tat com.example.A$B.c(A.java:11)', 'com/example/A.java', 11],
  ['\tat app//com.example.A.c(A.kt:11)', 'com/example/A.kt', 11],
  ['\tat A.c(A.java:11)', 'A.java', 11],
  ['   at Shop.A.B(Int32 a) in /b/A.cs:line 21', '/b/A.cs', 21],
  ["thread 'a' panicked at src/lib.rs:10:5:", 'src/lib.rs', 10],
  ['# ./spec/a_spec.rb:12:in `block`', './spec/a_spec.rb', 12],
  ['/b/tests/ATest.php:12', '/b/tests/ATest.php', 12],
  ['src/a.cc:10', 'src/a.cc', 10],
])('reads %s', (line, file, number) => {
  expect(firstFrame(`message\n${line}\nat x (/later.js:1:1)`, undefined)).toEqual({ file, line: number })
})

test.each([
  'at f (/b/node_modules/a/b.js:1:2)',
  'at f (node:internal/timers:483:21)',
  'at Array.map (<anonymous>)',
  '\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)',
  '\tat org.junit.jupiter.api.Assertions.fail(Assertions.java:1)',
  '/usr/lib/python3.11/json/decoder.py:353: JSONDecodeError',
  '/b/.venv/lib/python3.12/site-packages/a.py:3: in f',
  '/root/go/pkg/mod/example.com/a@v1/b.go:3: x',
  '# /usr/lib/ruby/gems/3.1.0/gems/a/b.rb:3:in `c`',
  'https://example.com:443/',
  'expected 12:30:10, got 12:30:11',
  'a.js:0:1',
])('does not read %s', (line) => {
  expect(firstFrame(line, undefined)).toBeUndefined()
})

test('takes the first frame of a given file', () => {
  const trace = 'at f (/b/src/a.js:1:1)\nat g (/b/test/a.test.js:2:1)'
  expect(firstFrame(trace, 'test/a.test.js')).toEqual({ file: '/b/test/a.test.js', line: 2 })
  expect(firstFrame(trace, './src/a.js')?.line).toBe(1)
  expect(firstFrame(trace, 'est/a.test.js')).toBeUndefined()
})

test('hostile lines take linear time', () => {
  const pieces = ['at ', ' in ', '(', 'a.', ':1', '/', '❯ ', '\\', 'x', ' (', '.rs']
  const lines = pieces.flatMap((a) => pieces.map((b) => `at ${(a + b).repeat(500).slice(0, 500)}`))
  const trace = Array.from({ length: 8 }, () => lines.join('\n').slice(0, 16_000)).join('\n')
  for (let round = 0; round < 20; round += 1) firstFrame(trace, 'none.js')
})
