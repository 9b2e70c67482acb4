import ManagedModel
import OpenCoreData

/// Relationships of every kind, as a model document.
enum KinshipModel {
  static func make() throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data(document.utf8), file: "Kinship")
  }

  private static let document = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Person">
        <attribute name="name" optional="YES" attributeType="String"/>
        \(toMany("managers", "Person", "reports"))
        \(toMany("reports", "Person", "managers"))
        \(toOne("parent", "Person", "children"))
        \(toMany("children", "Person", "parent"))
        \(toOne("spouse", "Person", "spouseOf"))
        \(toOne("spouseOf", "Person", "spouse"))
        \(toOne("residentOf", "Country", "residents"))
        \(toOne("citizenOf", "Country", "citizens"))
        \(toOne("mayorOf", "Country", "mayor"))
        \(toMany("friends", "FriendInfo", "source", "Cascade"))
        \(toMany("befriendedBy", "FriendInfo", "friend", "Cascade"))
        \(toMany("visited", "Country", "visitors", ordered: true))
        <relationship name="idol" optional="YES" maxCount="1" deletionRule="No Action" \
    destinationEntity="Person"/>
      </entity>
      <entity name="FriendInfo">
        <attribute name="ranking" optional="YES" attributeType="Integer 16"/>
        <relationship name="source" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
        <relationship name="friend" maxCount="1" deletionRule="Nullify" \
    destinationEntity="Person" inverseName="befriendedBy" inverseEntity="Person"/>
      </entity>
      <entity name="Country">
        <attribute name="name" optional="YES" attributeType="String"/>
        \(toMany("residents", "Person", "residentOf"))
        \(toMany("citizens", "Person", "citizenOf"))
        \(toOne("mayor", "Person", "mayorOf"))
        \(toMany("visitors", "Person", "visited", ordered: true))
        <relationship name="sights" optional="YES" toMany="YES" ordered="YES" \
    deletionRule="Nullify" destinationEntity="Sight"/>
      </entity>
      <entity name="Sight">
        <attribute name="name" optional="YES" attributeType="String"/>
      </entity>
      <entity name="List">
        <attribute name="name" optional="YES" attributeType="String"/>
        \(toMany("songs", "Song", "list", "Cascade", ordered: true))
        \(toMany("tags", "Tag", "lists", ordered: true))
        \(toMany("kept", "Kept", "list", "Deny"))
        \(toMany("loose", "Kept", "looseList", "No Action"))
      </entity>
      <entity name="Song">
        <attribute name="name" optional="YES" attributeType="String"/>
        \(toOne("list", "List", "songs"))
      </entity>
      <entity name="Single" parentEntity="Song"/>
      <entity name="Tag">
        <attribute name="name" optional="YES" attributeType="String"/>
        \(toMany("lists", "List", "tags"))
      </entity>
      <entity name="Kept">
        <attribute name="name" optional="YES" attributeType="String"/>
        \(toOne("list", "List", "kept"))
        \(toOne("looseList", "List", "loose"))
      </entity>
    </model>
    """

  private static func toOne(_ name: String, _ destination: String, _ inverse: String) -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" "
      + "destinationEntity=\"\(destination)\" inverseName=\"\(inverse)\" "
      + "inverseEntity=\"\(destination)\"/>"
  }

  private static func toMany(
    _ name: String, _ destination: String, _ inverse: String, _ rule: String = "Nullify",
    ordered: Bool = false
  ) -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" deletionRule=\"\(rule)\" "
      + (ordered ? "ordered=\"YES\" " : "")
      + "destinationEntity=\"\(destination)\" inverseName=\"\(inverse)\" "
      + "inverseEntity=\"\(destination)\"/>"
  }
}

extension NSManagedObject {
  /// The destinations of a to-many relationship as a set, even if it's ordered.
  func set(_ key: String) -> Set<NSManagedObject> {
    let value = value(forKey: key)
    return value as? Set<NSManagedObject>
      ?? Set((value as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? [])
  }

  /// The names of an ordered to-many relationship's destinations, in order.
  func names(_ key: String) -> String {
    ((value(forKey: key) as? NSOrderedSet)?.array ?? [])
      .map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-" }
      .joined()
  }

  /// The destination of a to-one relationship.
  func one(_ key: String) -> NSManagedObject? {
    value(forKey: key) as? NSManagedObject
  }
}
