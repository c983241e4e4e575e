//! Lets each device prove itself when a network is loaded on it, once for a network, a device and its driver.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::OnnxRuntimeBackend;
use super::subject::Subject;
use crate::preferences;
use crate::proof::Record;
use crate::{
    Arithmetic, Attributes, Backend, BackendError, BackendSettings, DeviceOptions, Evaluator, NativeBackend,
    NativeOptions, Proof,
};
use zeitnot_base::announcer::Announcer;
use zeitnot_network::Network;
use zeitnot_runtime::{Provider, Runtime, nvidia, user_cache, vulkan};

/// The proofs of one network on the devices of a provider. The CPU's evaluations are made once for all of them, when the
/// first device has no proof.
pub(crate) struct Prover<'a> {
    runtime: &'a Arc<Runtime>,
    provider: Provider,
    network: &'a Network,
    options: &'a BackendSettings,
    /// Folder of the proofs; `None` for a user without a home folder.
    folder: Option<PathBuf>,
    proof: Mutex<Option<Arc<Proof>>>,
}

impl<'a> Prover<'a> {
    pub(crate) fn new(
        runtime: &'a Arc<Runtime>,
        provider: Provider,
        network: &'a Network,
        options: &'a BackendSettings,
    ) -> Prover<'a> {
        let folder = user_cache().map(|cache| cache.join("proofs"));
        Prover { runtime, provider, network, options, folder, proof: Mutex::new(None) }
    }

    /// Checks each session of the device, unless a proof of it is remembered. The CPU needs none.
    ///
    /// # Errors
    /// [`BackendError::Wrong`], and errors of evaluation.
    pub(crate) fn prove(&self, backend: &OnnxRuntimeBackend) -> Result<(), BackendError> {
        match &backend.subject {
            Some(subject) => self.prove_evaluators(subject, backend.attributes(), || backend.trials()),
            None => Ok(()),
        }
    }

    fn prove_evaluators(
        &self,
        subject: &Subject,
        attributes: &Attributes,
        evaluators: impl FnOnce() -> Vec<Box<dyn Evaluator>>,
    ) -> Result<(), BackendError> {
        // An engine that a provider compiles is another one after each compilation, and may be bad.
        let folder = self.folder.as_deref().filter(|_| !preferences(self.provider).compiles_anew);
        let record = folder.map(|folder| Record::new(folder, &self.key(subject, attributes)));
        if record.as_ref().is_some_and(Record::is_there) {
            return Ok(());
        }
        let announcer = &self.options.announcer;
        let name = self.provider.to_string();
        let start = format!("{name}: 16 positions are evaluated here and on the CPU, once, to see that they agree");
        let is_proved = announcer.during(&name, &start, || {
            let proof = match self.proof() {
                Ok(proof) => proof,
                // The network is broken, and not the device.
                Err(error @ BackendError::Output { .. }) => return Err(error),
                Err(error) => {
                    announcer.say(&format!("{name} is used without the CPU's word that it computes rightly: {error}"));
                    return Ok(false);
                }
            };
            for mut evaluator in evaluators() {
                proof.check(&mut *evaluator, attributes, subject.arithmetic)?;
            }
            Ok(true)
        })?;
        if let Some(record) = record.filter(|_| is_proved) {
            record.keep();
        }
        Ok(())
    }

    /// The things that a proof depends on.
    fn key(&self, subject: &Subject, attributes: &Attributes) -> Vec<(&'static str, String)> {
        let driver = match nvidia::driver() {
            Ok(driver) if self.provider.is_nvidia() => {
                format!("{} with CUDA {}", driver.version.unwrap_or_default(), driver.cuda)
            }
            _ if self.provider == Provider::WebGpu => match vulkan::device() {
                Ok(device) => format!("{} {}", device.name, device.driver_version),
                Err(_) => sysinfo::System::long_os_version().unwrap_or_default(),
            },
            // The drivers of others are not asked: of most systems they are a part.
            _ => [sysinfo::System::long_os_version(), sysinfo::System::kernel_version()]
                .map(Result::unwrap_or_default)
                .join(", "),
        };
        vec![
            ("model", subject.digests.join(" ")),
            ("arithmetic", format!("{:?}", subject.arithmetic)),
            ("provider", self.provider.to_string()),
            ("device", attributes.device.clone()),
            ("driver", driver),
            ("library", self.runtime.path.display().to_string()),
            ("library's size and time", stamp(&self.runtime.path)),
            ("options", format!("{:?}", self.options.device)),
        ]
    }

    /// The CPU's evaluations, in float32: by the backend native, which prepares fastest, or by ONNX Runtime where that
    /// does not run the network.
    fn proof(&self) -> Result<Arc<Proof>, BackendError> {
        let mut kept = self.proof.lock();
        if let Some(proof) = &*kept {
            return Ok(Arc::clone(proof));
        }
        let (device, fill) = (&self.options.device, self.options.history_fill);
        let native = NativeOptions {
            isa: None,
            arithmetic: Some(Arithmetic::Float32),
            policy_head: device.policy_head.as_deref(),
            value_head: device.value_head.as_deref(),
        };
        let proof = match NativeBackend::new(self.network, &native, fill) {
            Ok(native) => Proof::new(&native)?,
            Err(_) => {
                let mut heads = DeviceOptions::default();
                heads.policy_head.clone_from(&device.policy_head);
                heads.value_head.clone_from(&device.value_head);
                let (runtime, silent) = (Arc::clone(self.runtime), Announcer::default());
                let cpu = Provider::Cpu;
                Proof::new(&OnnxRuntimeBackend::new(runtime, cpu, 0, self.network, &heads, fill, &silent)?)?
            }
        };
        Ok(Arc::clone(kept.insert(Arc::new(proof))))
    }
}

/// The size of a file and the time of its last change, which tell it from a later file at the same path.
fn stamp(file: &Path) -> String {
    let known = std::fs::metadata(file).map(|metadata| (metadata.len(), metadata.modified().ok()));
    known.map_or_else(|_| String::new(), |known| format!("{known:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluation, Query};
    use zeitnot_network::testing::random_network;

    /// A device that computes q wrongly: an evaluator to each of whose q the second field is added.
    struct Off(Box<dyn Evaluator>, f32);

    impl Evaluator for Off {
        fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
            let answers = self.0.evaluate(batch)?.into_iter();
            Ok(answers.map(|answer| Evaluation { q: answer.q + self.1, ..answer }).collect())
        }

        fn modelled_cost_ms(&self) -> Option<f64> {
            None
        }
    }

    /// Proves the CPU as though it was another device, off by so much; returns the lines that were said, and the error.
    fn prove(prover: &mut Prover<'_>, folder: &std::path::Path, device: &str, off: f32) -> (usize, Option<String>) {
        let said = Arc::new(Mutex::new(0));
        let count = Arc::clone(&said);
        let mut options = prover.options.clone();
        options.announcer = Announcer::new(move |_| *count.lock() += 1);
        let prover = Prover {
            runtime: prover.runtime,
            provider: Provider::OpenVino,
            network: prover.network,
            options: &options,
            folder: Some(folder.to_owned()),
            proof: Mutex::new(prover.proof.get_mut().clone()),
        };
        let cpu = OnnxRuntimeBackend::new(
            Arc::clone(prover.runtime),
            Provider::Cpu,
            0,
            prover.network,
            &DeviceOptions::default(),
            options.history_fill,
            &Announcer::default(),
        )
        .unwrap();
        let subject = Subject { digests: vec!["model".to_owned()], arithmetic: Arithmetic::Float32 };
        let attributes = Attributes { device: device.to_owned(), ..cpu.attributes().clone() };
        let evaluators =
            || cpu.trials().into_iter().map(|inner| Box::new(Off(inner, off)) as Box<dyn Evaluator>).collect();
        let error = prover.prove_evaluators(&subject, &attributes, evaluators).err().map(|error| error.to_string());
        (*said.lock(), error)
    }

    #[test]
    fn a_proof_is_remembered_and_a_failure_is_not() {
        let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
        let own = Network::from_bytes(&random_network(3, 2, 16), "tiny.pb.gz").unwrap();
        let model = own.onnx(&zeitnot_network::Conversion::default()).unwrap();
        let foreign = Network::from_bytes(&model.bytes, "tiny.onnx").unwrap();
        for network in [own, foreign] {
            let home = tempfile::tempdir().unwrap();
            let options = BackendSettings::default();
            let mut prover = Prover::new(&runtime, Provider::OpenVino, &network, &options);
            let mut try_it = |device: &str, off: f32| prove(&mut prover, home.path(), device, off);
            for _ in 0..2 {
                let (lines, error) = try_it("card 1", 0.5);
                let error = error.unwrap();
                assert!(error.contains("tiny (card 1) computes this network wrongly: q is "), "{error}");
                assert!(lines == 2 && !error.contains('\n'), "{lines}, {error}");
            }
            assert_eq!(try_it("card 1", 0.0), (2, None), "said before and after");
            assert_eq!(try_it("card 1", 0.5), (0, None), "nothing is computed");
            assert!(try_it("card 2", 0.5).1.is_some(), "another device");
        }
    }
}
