// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

public import OpenCoreData

/// What subentities of the entity `Person` have in common.
public class Person: NSManagedObject {}
