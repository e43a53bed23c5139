import { ensureBinaries } from './binaries.ts'
console.log(await ensureBinaries())
