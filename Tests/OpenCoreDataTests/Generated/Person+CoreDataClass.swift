// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

/// What sub-entities of the entity `Person` have in common.
public class Person: NSManagedObject {}
