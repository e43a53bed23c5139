// More seeds of the simulation, beside those of `simulation.test.ts`.
import { simulateSeeds } from './seeds.ts'

simulateSeeds(2)
