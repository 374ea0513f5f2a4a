import { type ChildProcess, spawn } from 'node:child_process'

/** Kills a program when this process ends. The pipe closes even if this process is killed by a signal. */
export function killWhenWeEnd(child: ChildProcess): void {
  const watcher = spawn('sh', ['-c', `read _; kill -9 ${child.pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.once('close', () => watcher.kill('SIGKILL'))
}

/** Returns the first of some events, or `deadline` if none of them occurs in time. */
export async function firstWithin<T>(deadlineMs: number, events: readonly Promise<T>[]): Promise<T | 'deadline'> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<'deadline'>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, 'deadline')
  })
  return Promise.race([...events, deadline]).finally(() => clearTimeout(timer))
}
