import OpenCoreData

/// The object of most workloads, with five integers, two floating-point numbers, two strings, and a
/// to-one relationship.
///
/// Its properties are handwritten with `value(forKey:)`, which adds no storage to an object.
final class Mood: NSManagedObject {
  var rank: Int64 {
    get { value(forKey: "rank") as? Int64 ?? 0 }
    set { setValue(newValue, forKey: "rank") }
  }
  var stamp: Int64 {
    get { value(forKey: "stamp") as? Int64 ?? 0 }
    set { setValue(newValue, forKey: "stamp") }
  }
  var votes: Int32 {
    get { value(forKey: "votes") as? Int32 ?? 0 }
    set { setValue(newValue, forKey: "votes") }
  }
  var flags: Int32 {
    get { value(forKey: "flags") as? Int32 ?? 0 }
    set { setValue(newValue, forKey: "flags") }
  }
  var kind: Int16 {
    get { value(forKey: "kind") as? Int16 ?? 0 }
    set { setValue(newValue, forKey: "kind") }
  }
  var latitude: Double {
    get { value(forKey: "latitude") as? Double ?? 0 }
    set { setValue(newValue, forKey: "latitude") }
  }
  var longitude: Double {
    get { value(forKey: "longitude") as? Double ?? 0 }
    set { setValue(newValue, forKey: "longitude") }
  }
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var note: String {
    get { value(forKey: "note") as? String ?? "" }
    set { setValue(newValue, forKey: "note") }
  }
  var country: Country? {
    get { value(forKey: "country") as? Country }
    set { setValue(newValue, forKey: "country") }
  }
}
