import FieldworkLocator
import FieldworkREST

extension ServicesDirectory {
    /// The page of a locator, with a form for one address.
    func locator(_ service: GeocodeService) -> Answer {
        let information = service.locator.information
        return page("\(service.name) (GeocodeServer)", up: services) { html in
            html.element("<p>Addresses: ", "\(information.addressCount)", "</p>")
            html.element("<p>Made: ", information.made, "</p>")
            html.markup(
                """
                <form action="GeocodeServer/findAddressCandidates"><label>Address or place \
                <input name="SingleLine" maxlength="400"></label><input type="hidden" name="outFields" value="*">\
                <button type="submit">Find</button></form>
                <form action="GeocodeServer/reverseGeocode"><label>Longitude, latitude \
                <input name="location" maxlength="80"></label><button type="submit">Find the address</button></form>
                <p><a href="?f=pjson">JSON</a></p>
                """)
        }
    }
}
