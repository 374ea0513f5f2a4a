/** The workflows of the repository, by file. The runner decides by the names of the jobs what they do. */
export const workflows = {
  'ci.yml': `name: CI
on:
  push:
    branches: [main]
  pull_request:
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - name: Throw the clay
        run: make
      - run: make check
  test:
    needs: build
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [20, 22]
    steps:
      - run: make test
  publish:
    needs: test
    if: github.ref == 'refs/heads/release'
    runs-on: ubuntu-latest
    steps:
      - run: make publish
`,
  'checks.yml': `name: Checks
on:
  push:
    branches: [main]
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: make lint
  unit:
    runs-on: ubuntu-latest
    steps:
      - name: Install
        run: make install
      - name: Run the tests
        run: make unit
      - name: Upload the report
        run: make upload
  report:
    needs: [lint, unit]
    runs-on: ubuntu-latest
    steps:
      - run: make report
`,
  'release.yml': `on:
  push:
    tags: ['v*']
jobs:
  release:
    runs-on: ubuntu-latest
    steps:
      - run: make release
`,
} as const
