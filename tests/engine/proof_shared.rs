//! The proof of a device with every network of the folder shared/: the healthy ones pass.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;

use crate::proof::{is_proved, native};
use zeitnot_engine::backend::Proof;
use zeitnot_engine::network::Network;

#[cfg_attr(not(shared), ignore = "needs ../shared")]
#[test]
fn no_network_is_a_cause_to_refuse_a_healthy_device() {
    let shared = crate::common::shared();
    let mut proved = 0;
    for entry in fs::read_dir(shared.join("golden/eval")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        let paths = ["", "synthetic/"].map(|folder| shared.join("nets").join(format!("{folder}{name}.pb.gz")));
        let path = paths.into_iter().find(|path| path.is_file()).unwrap_or_else(|| panic!("no network {name}"));
        let network = Network::load(&path).unwrap();
        is_proved(&name, &network, &Proof::new(&*native(&network)).unwrap());
        proved += 1;
    }
    assert!(proved >= 19, "{proved} networks");
}
