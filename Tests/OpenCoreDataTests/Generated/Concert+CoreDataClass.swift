// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

/// An object of the entity `Concert`.
public class Concert: NSManagedObject {}
