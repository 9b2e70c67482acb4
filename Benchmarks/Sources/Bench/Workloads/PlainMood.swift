/// A plain class with the same ten properties as stored properties, which the rows for property
/// access are compared with.
final class PlainMood {
  var rank, stamp: Int64
  var votes, flags: Int32
  var kind: Int16
  var latitude, longitude: Double
  var name, note: String
  var country: PlainMood?

  init(_ values: MoodValues) {
    rank = values.rank
    stamp = values.stamp
    votes = values.votes
    flags = values.flags
    kind = values.kind
    latitude = values.latitude
    longitude = values.longitude
    name = values.name
    note = values.note
  }
}
