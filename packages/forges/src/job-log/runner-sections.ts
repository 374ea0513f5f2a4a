/**
 * The sections that GitLab's runner writes, and when they run. If a job fails after the start of its script, the sections before it
 * succeeded; those after it do not fail a job. So the failing lines leave out both.
 */
export const runnerSections = {
  resolve_secrets: 'before',
  prepare_executor: 'before',
  prepare_script: 'before',
  get_sources: 'before',
  clear_worktree: 'before',
  restore_cache: 'before',
  download_artifacts: 'before',
  step_script: 'script',
  build_script: 'script',
  after_script: 'after',
  archive_cache: 'after',
  archive_cache_on_failure: 'after',
  upload_artifacts_on_success: 'after',
  upload_artifacts_on_failure: 'after',
  cleanup_file_variables: 'after',
} as const satisfies Readonly<Record<string, 'before' | 'script' | 'after'>>

const sectionsAfterScript: ReadonlySet<string> = new Set(
  Object.entries(runnerSections).flatMap(([name, phase]) => (phase === 'after' ? [name] : [])),
)

/** Returns whether a section is the script of the job. */
export const isScript = (name: string): boolean => name === 'step_script' || name === 'build_script'

/** Returns whether a section runs after the script of the job. */
export const isAfterScript = (name: string): boolean => sectionsAfterScript.has(name)
