/** Returns the SSH address of a repository. Nothing answers there yet; clients expect the field. */
export const sshCloneUrl = (externalUrl: string, clonePath: string): string =>
  `git@${new URL(externalUrl).hostname}:${clonePath}`
