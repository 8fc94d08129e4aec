/// A house as a locator file has it.
struct KnownHouse: Sendable, Hashable {
    /// Names the house in its file.
    var id: Int64 = 0
    var road: Int64 = 0
    var number: Int64
    var suffix: String
    var unit: String
    var zoneID: Int64
    var x: Double
    var y: Double

    /// The number in the spelling of labels: a fraction stands apart, a letter or the end of a range doesn't.
    var label: String { "\(number)\(suffix.contains("/") ? " " : "")\(suffix)" }
}

/// Houses of one street in the order of their numbers, several in one row of the file: each tells only what differs from the one
/// before, so that most take five or six bytes.
enum HouseBlock {
    /// Houses in one row: few enough to lie near each other, for the search by place.
    static let most = 32

    private static let indexBits: Int64 = 6
    private static let roadBits: Int64 = 32
    /// Numbers from here on are in one place of the order; hardly any street has one.
    private static let largestNumber: Int64 = 1 << 24 - 1
    /// Rows whose first houses have one number: a tower with more flats is out of reach of its number from there on.
    private static let partBits: Int64 = 8

    // MARK: Ids

    /// Of the rows of a street.
    static func rows(of road: Int64) -> ClosedRange<Int64> {
        (road << roadBits)...(road << roadBits | (1 << roadBits - 1))
    }

    /// The last row of a street that may begin with a number, or with one below.
    static func lastRow(of road: Int64, number: Int64) -> Int64 {
        road << roadBits | (max(0, min(number, largestNumber)) << partBits | (1 << partBits - 1))
    }

    /// The row id of a block behind another; nil when a street has no room for more.
    static func row(of road: Int64, first number: Int64, after last: Int64?) -> Int64? {
        let wanted = road << roadBits | max(0, min(number, largestNumber)) << partBits
        let row = max(wanted, (last ?? (wanted - 1)) + 1)
        return rows(of: road).contains(row) ? row : nil
    }

    static func row(ofHouse id: Int64) -> Int64 { id >> indexBits }
    static func road(ofRow row: Int64) -> Int64 { row >> roadBits }
    static func road(ofHouse id: Int64) -> Int64 { road(ofRow: row(ofHouse: id)) }

    // MARK: Bytes

    private enum Flag {
        static let suffix: UInt64 = 1
        static let unit: UInt64 = 2
        static let zone: UInt64 = 4
        static let bits: UInt64 = 3
    }

    static func bytes(of houses: [KnownHouse]) -> [UInt8] {
        var (writer, path) = (PackedWriter(), PackedPath())
        var (number, zone): (Int64, Int64) = (0, 0)
        for house in houses {
            var flags: UInt64 = 0
            if !house.suffix.isEmpty { flags |= Flag.suffix }
            if !house.unit.isEmpty { flags |= Flag.unit }
            if house.zoneID != zone { flags |= Flag.zone }
            writer.append(UInt64(max(0, house.number &- number)) << Flag.bits | flags)
            if !house.suffix.isEmpty { writer.append(text: house.suffix) }
            if !house.unit.isEmpty { writer.append(text: house.unit) }
            if house.zoneID != zone { writer.append(UInt64(house.zoneID)) }
            path.append(house.x, house.y, to: &writer)
            (number, zone) = (house.number, house.zoneID)
        }
        return writer.bytes
    }

    static func houses(_ bytes: UnsafeRawBufferPointer, row: Int64) -> [KnownHouse] {
        var (reader, path) = (PackedReader(bytes), PackedPath())
        var (number, zone): (Int64, Int64) = (0, 0)
        var houses: [KnownHouse] = []
        houses.reserveCapacity(most)
        while houses.count < 1 << indexBits, let head = reader.number() {
            number &+= Int64(head >> Flag.bits)
            let suffix = head & Flag.suffix != 0 ? reader.text() ?? "" : ""
            let unit = head & Flag.unit != 0 ? reader.text() ?? "" : ""
            if head & Flag.zone != 0 { zone = Int64(clamping: reader.number() ?? 0) }
            guard let place = path.next(&reader) else { break }
            houses.append(
                KnownHouse(
                    id: row << indexBits | Int64(houses.count), road: road(ofRow: row), number: number, suffix: suffix,
                    unit: unit, zoneID: zone, x: place.x, y: place.y))
        }
        return houses
    }
}
