// Written by cdprof generate from Orchestra.xcdatamodel. Changes are lost.

import OpenCoreData

/// The classes of the model Orchestra.xcdatamodel.
public enum OrchestraModel {
  /// Registers the model's classes, and the locations of their values in a row.
  ///
  /// Call it before the model is first used. Calling it again has no effect.
  public static func registerClasses() {
    Concert.registerClass(named: ".Concert", slots: Concert.Slots.declarations)
    Person.registerClass(named: "Person", slots: Person.Slots.declarations)
    Piece.registerClass(named: "Piece", slots: Piece.Slots.declarations)
    Musician.registerClass(
      named: "Musician", slots: Person.Slots.declarations, Musician.Slots.declarations)
  }
}
