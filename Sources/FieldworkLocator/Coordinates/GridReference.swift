import Foundation

/// Coordinates of the grids of UTM (`10N 551130 4180998`) and MGRS (`10SEG 51130 80998`).
enum GridReference {
    private static let bands = Array("CDEFGHJKLMNPQRSTUVWX")

    static func read(_ text: String) -> CoordinateText.Place? {
        let words = text.uppercased().split { $0 == " " || $0 == "," || $0 == "\t" }.map(String.init)
        guard let first = words.first, first.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return utm(words) ?? militaryGrid(words.joined())
    }

    // MARK: UTM

    /// Zone and hemisphere or band, then metres east and north.
    private static func utm(_ words: [String]) -> CoordinateText.Place? {
        var words = words
        // `10 S 551130 4180998` as well.
        if words.count == 4, words[1].count == 1 { words = [words[0] + words[1], words[2], words[3]] }
        guard words.count == 3, let letter = words[0].last, letter.isLetter, let zone = Int(words[0].dropLast()),
            (1...60).contains(zone), let east = metres(words[1], "E"), let north = metres(words[2], "N"),
            (100_000...900_000).contains(east), (0...10_000_000).contains(north)
        else { return nil }
        // S is the southern hemisphere and a northern band: a northing within that band is taken for the band's.
        let isNorth: Bool
        switch letter {
        case "N": isNorth = true
        case "S": isNorth = (3_540_000...4_430_000).contains(north)
        default:
            guard let band = bands.firstIndex(of: letter) else { return nil }
            isNorth = band >= 10
        }
        return TransverseMercator.place(zone: zone, isNorth: isNorth, east: east, north: north)
    }

    private static func metres(_ text: String, _ unit: Character) -> Double? {
        var digits = Substring(text)
        if digits.hasSuffix("M") { digits = digits.dropLast() }
        if digits.last == unit { digits = digits.dropLast() }
        if digits.hasSuffix("M") { digits = digits.dropLast() }
        guard !digits.isEmpty, digits.count <= 14, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else {
            return nil
        }
        return Double(digits)
    }

    // MARK: MGRS

    /// Zone, band, the two letters of a square of 100 km, and as many digits east as north.
    private static func militaryGrid(_ text: String) -> CoordinateText.Place? {
        let digits = text.prefix { $0.isNumber }
        let rest = Array(text.dropFirst(digits.count))
        guard let zone = Int(digits), (1...60).contains(zone), rest.count >= 3, let band = bands.firstIndex(of: rest[0])
        else { return nil }
        let tail = rest[3...]
        guard tail.count % 2 == 0, (2...10).contains(tail.count), tail.allSatisfy({ $0.isASCII && $0.isNumber }),
            let column = column(rest[1], zone), let row = row(rest[2], zone)
        else { return nil }
        let half = tail.count / 2
        let scale = pow(10, Double(5 - half))
        guard let east = Double(String(tail.prefix(half))), let north = Double(String(tail.suffix(half))) else {
            return nil
        }
        // The middle of the square that the digits name.
        let easting = Double(column) * 100_000 + (east + 0.5) * scale
        return northing(Double(row) * 100_000 + (north + 0.5) * scale, band: band, easting, zone)
    }

    /// Columns have eight letters, and begin with A, J or S by the zone.
    private static func column(_ letter: Character, _ zone: Int) -> Int? {
        let sets = ["ABCDEFGH", "JKLMNPQR", "STUVWXYZ"]
        return Array(sets[(zone - 1) % 3]).firstIndex(of: letter).map { $0 + 1 }
    }

    /// Rows have twenty letters, and begin with A or F by the zone.
    private static func row(_ letter: Character, _ zone: Int) -> Int? {
        let letters = Array("ABCDEFGHJKLMNPQRSTUV")
        guard let index = letters.firstIndex(of: letter) else { return nil }
        return zone % 2 == 1 ? index : (index + 15) % 20
    }

    /// Rows come again every 2,000 km: the band says which.
    private static func northing(_ north: Double, band: Int, _ east: Double, _ zone: Int) -> CoordinateText.Place? {
        let latitude = Double(band) * 8 - 80
        for cycle in 0..<5 {
            let metres = north + Double(cycle) * 2_000_000
            guard metres < 10_100_000,
                let place = TransverseMercator.place(zone: zone, isNorth: band >= 10, east: east, north: metres)
            else { continue }
            let height: Double = band == 19 ? 12 : 8
            if place.y >= latitude - 0.5, place.y <= latitude + height + 0.5 { return place }
        }
        return nil
    }
}

/// The projection of UTM, turned round (Krüger's series to the third order: exact to a millimetre).
enum TransverseMercator {
    static func place(zone: Int, isNorth: Bool, east: Double, north: Double) -> CoordinateText.Place? {
        let n = 1 / (2 * 298.257223563 - 1)
        let a = 6_378_137 / (1 + n) * (1 + n * n / 4 + n * n * n * n / 64)
        let beta = [
            n / 2 - 2 * n * n / 3 + 37 * n * n * n / 96, n * n / 48 + n * n * n / 15, 17 * n * n * n / 480,
        ]
        let delta = [
            2 * n - 2 * n * n / 3 - 2 * n * n * n, 7 * n * n / 3 - 8 * n * n * n / 5, 56 * n * n * n / 15,
        ]
        let xi = (north - (isNorth ? 0 : 10_000_000)) / (0.9996 * a)
        let eta = (east - 500_000) / (0.9996 * a)
        var (xi1, eta1) = (xi, eta)
        for (index, value) in beta.enumerated() {
            let k = 2 * Double(index + 1)
            xi1 -= value * sin(k * xi) * cosh(k * eta)
            eta1 -= value * cos(k * xi) * sinh(k * eta)
        }
        let chi = asin(max(-1, min(1, sin(xi1) / cosh(eta1))))
        var phi = chi
        for (index, value) in delta.enumerated() { phi += value * sin(2 * Double(index + 1) * chi) }
        let longitude = Double(zone * 6 - 183) + atan2(sinh(eta1), cos(xi1)) * 180 / .pi
        let latitude = phi * 180 / .pi
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
        return CoordinateText.Place(x: longitude, y: latitude)
    }
}
