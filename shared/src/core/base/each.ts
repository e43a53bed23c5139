/** Several things, to say something of each or to count them. It has no index and no `find`: what is given so may not be all. */
export type Each<T> = Iterable<T> & Pick<readonly T[], 'map' | 'flatMap' | 'filter' | 'length'>
