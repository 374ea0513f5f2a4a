/** Returns a service name in the form for header names: `Svc` for `svc`. */
export const headerName = (serviceName: string): string =>
  serviceName.replaceAll(/(^|-)([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
