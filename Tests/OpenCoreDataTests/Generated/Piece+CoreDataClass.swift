// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

/// An object of the entity `Piece`.
public class Piece: NSManagedObject {}
