// Thousands of interleavings of users, faults, lagging caches and dying operators: at no moment two, nothing foreign
// touched, nothing rightful withdrawn, and always the state that the pure core says. Three files share the seeds.
import { simulateSeeds } from './seeds.ts'

simulateSeeds(0)
