// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

import OpenCoreData

/// An object of the entity `Musician`.
public class Musician: Person {}
