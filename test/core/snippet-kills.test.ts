import { proveRowsAndRepositoriesAgree } from './kill-proof.ts'
import { snippetFaults } from './snippet-checks.ts'
import { SnippetWriter } from './snippet-writes.ts'

proveRowsAndRepositoriesAgree({
  name: 'snippets',
  seed: 20_261_123,
  createParent: async (core) => (await core.must('POST', '/projects', { name: 'work', path: 'work' })).id,
  newWriter: SnippetWriter.of,
  faultsOf: snippetFaults,
})
