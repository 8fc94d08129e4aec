/// A place of an address in words: what stands behind the street.
package struct AddressZone: Sendable, Hashable {
    package var neighborhood = ""
    package var city = ""
    package var subregion = ""
    package var region = ""
    package var postal = ""
    package var country = ""

    package init(
        neighborhood: String = "", city: String = "", subregion: String = "", region: String = "", postal: String = "",
        country: String = ""
    ) {
        self.neighborhood = neighborhood
        self.city = city
        self.subregion = subregion
        self.region = region
        self.postal = postal
        self.country = country
    }

    /// The zone of a whole street: its houses may have other postal codes.
    var ofStreet: AddressZone {
        var zone = self
        zone.neighborhood = ""
        zone.postal = ""
        return zone
    }
}
